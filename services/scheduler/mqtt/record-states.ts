import type {
  PublishedAlert,
  PublishedChannel,
  SchedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import { createDiscoveryConfigs } from './discovery.ts'
import type { Topics } from './topics.ts'

/** A retained message with the state of a record, such as a channel. */
export interface RecordState {
  topic: string
  payload: string
}

/** Returns all states that an inventory contains. */
export function listRecordStates(inventory: SchedulerInventory, topics: Topics): RecordState[] {
  const { channels, alerts, engines } = inventory
  return [
    ...channels.flatMap(channel => [
      toCountsState(channel, topics),
      toChannelState(channel, topics),
    ]),
    ...listDiscoveryStates(inventory, topics),
    ...alerts.map(alert => toAlertState(alert, topics)),
    ...engines.map(({ engine_id, ...state }) => toEngineState(engine_id, state, topics)),
  ]
}

/** Returns the topics of the states that the live feed reports, but an inventory lacks. */
export function listFeedTopics(
  { channels, settings }: SchedulerInventory,
  topics: Topics,
): string[] {
  const sourceTopics = channels.map(({ source_id }) => topics.sourceState(source_id))
  if (!settings.mqtt_is_picture) return sourceTopics
  return [...sourceTopics, ...channels.map(({ channel_id }) => topics.picture(channel_id))]
}

function listDiscoveryStates(
  { settings, channels, alerts }: SchedulerInventory,
  topics: Topics,
): RecordState[] {
  if (!settings.mqtt_is_discovery) return []
  const alertsByChannel = Map.groupBy(alerts, ({ channel_id }) => channel_id)
  const configs = channels.flatMap(channel =>
    createDiscoveryConfigs({
      channel,
      alerts: alertsByChannel.get(channel.channel_id) ?? [],
      topics,
      hasPictures: settings.mqtt_is_picture,
    }),
  )
  return configs.map(({ topic, config }) => ({ topic, payload: JSON.stringify(config) }))
}

/** The payload is a JSON object with the values of the channel's statistics, by key. */
export function toCountsState(channel: PublishedChannel, topics: Topics): RecordState {
  const { channel_id, statistics, counts } = channel
  const values = Object.fromEntries(statistics.map(({ key }) => [key, counts[key]?.value ?? 0]))
  return { topic: topics.counts(channel_id), payload: JSON.stringify(values) }
}

/** The payload is a JSON object with the name and the status of the channel. */
export function toChannelState(channel: PublishedChannel, topics: Topics): RecordState {
  const { channel_id, channel_name, status, reason, is_active, is_current } = channel
  // A channel that is off, or whose engine does not respond, has no connection to its source.
  const isConnected = is_current && is_active && status !== 'lost'
  const state = { channel_name, status, reason, is_active, is_connected: isConnected }
  return { topic: topics.channelState(channel_id), payload: JSON.stringify(state) }
}

/** The payload is `ON` while the alert is firing, otherwise `OFF`. */
export function toAlertState(
  { alert_id, is_firing }: Pick<PublishedAlert, 'alert_id' | 'is_firing'>,
  topics: Topics,
): RecordState {
  return { topic: topics.alertState(alert_id), payload: is_firing ? 'ON' : 'OFF' }
}

/** The payload is `state` as JSON. */
export function toEngineState(engineId: string, state: object, topics: Topics): RecordState {
  return { topic: topics.engineState(engineId), payload: JSON.stringify(state) }
}
