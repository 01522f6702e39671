import type { FeedCounts } from '@eyrie/contract/management/feed'
import { feedCounts } from '@eyrie/contract/management/feed'
import type {
  PublishedChannel,
  SchedulerFeedMessage,
  SchedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import { createDiscoveryConfigs } from './discovery.ts'
import type { PublishQueue } from './publish-queue.ts'
import { parseDiscoveryTopic, type Topics } from './topics.ts'

/** Turns what management reports into publications. */
export interface PublishedRecords {
  /** Publishes all states, and removes those of records that no longer exist. */
  applyInventory(inventory: SchedulerInventory): void
  applyMessage(message: SchedulerFeedMessage): void
  /** Removes what an earlier process has published for a record that no longer exists. */
  removeStale(topic: string): void
}

export function createPublishedRecords(queue: PublishQueue, topics: Topics): PublishedRecords {
  let channels = new Map<string, PublishedChannel>()
  let engineNames = new Map<string, string>()
  /** The last position that the inventory contains: older states are outdated. */
  let inventoryPosition = 0
  let hasPictures = false

  const setJson = (topic: string, value: object) => queue.setState(topic, JSON.stringify(value))

  function publishCounts({ channel_id, statistics, counts }: PublishedChannel) {
    const values = statistics.map(({ key }) => [key, counts[key]?.value ?? 0] as const)
    setJson(topics.counts(channel_id), Object.fromEntries(values))
  }

  function publishChannelState({
    channel_id,
    channel_name,
    status,
    reason,
    is_active,
    is_current,
  }: PublishedChannel) {
    const is_connected = is_current && status !== 'lost' && is_active
    setJson(topics.channelState(channel_id), { channel_name, status, reason, is_active, is_connected })
  }

  const publishEngine = (engine_id: string, state: object) =>
    setJson(topics.engineState(engine_id), { engine_name: engineNames.get(engine_id), ...state })

  const publishAlert = (alert_id: string, is_firing: boolean) =>
    queue.setState(topics.alertState(alert_id), is_firing ? 'ON' : 'OFF')

  function addEvent(topic: string, { position, time, channel_id, data }: SchedulerFeedMessage) {
    const { channel_name } = channels.get(channel_id ?? '') ?? {}
    queue.addEvent(topic, JSON.stringify({ id: String(position), time, channel_id, channel_name, ...data }))
  }

  const addSystemAlert = ({ position, time, source_id, engine_id, data }: SchedulerFeedMessage) =>
    queue.addEvent(
      topics.systemAlert,
      JSON.stringify({ id: String(position), time, source_id, engine_id, ...data }),
    )

  /** Applies counts to a channel. A statistic without a description appears in the next inventory. */
  function applyCounts(channel: PublishedChannel, added: FeedCounts) {
    channel.counts = { ...channel.counts, ...added }
    publishCounts(channel)
  }

  function applyChannelMessage(channel: PublishedChannel, message: SchedulerFeedMessage) {
    const { kind, data } = message
    switch (kind) {
      case 'notification':
        addEvent(topics.notification(channel.channel_id), message)
        return
      case 'incident':
        addEvent(topics.incident(channel.channel_id), message)
        return
      case 'picture':
        if (hasPictures)
          queue.setState(topics.picture(channel.channel_id), { picture: String(data.attachment) })
        return
      case 'count':
        if (isNew(message)) applyCounts(channel, feedCounts.parse(data.counts))
        return
      case 'alert_state':
        if (isNew(message)) publishAlert(String(data.alert_id), data.is_firing === true)
        return
      case 'channel_state':
        if (!isNew(message)) return
        channel.status = String(data.status)
        channel.reason = String(data.reason)
        channel.is_active = data.is_active === true
        channel.is_current = data.is_current === true
        publishChannelState(channel)
    }
  }

  const isNew = ({ position }: SchedulerFeedMessage) => position > inventoryPosition

  return {
    applyInventory({ position, settings, channels: newChannels, alerts, engines }) {
      inventoryPosition = position
      hasPictures = settings.mqtt_is_picture
      channels = new Map(newChannels.map(channel => [channel.channel_id, channel]))
      const alertsByChannel = Map.groupBy(alerts, ({ channel_id }) => channel_id)
      const previous = new Set(queue.listStates())
      const keep = (topic: string) => previous.delete(topic)

      for (const channel of newChannels) {
        const { channel_id, source_id } = channel
        publishCounts(channel)
        publishChannelState(channel)
        for (const topic of [topics.counts(channel_id), topics.channelState(channel_id)]) keep(topic)
        if (hasPictures) keep(topics.picture(channel_id))
        keep(topics.sourceState(source_id))
        if (!settings.mqtt_is_discovery) continue
        const channelAlerts = alertsByChannel.get(channel_id) ?? []
        for (const { topic, config } of createDiscoveryConfigs(channel, channelAlerts, topics, {
          hasPictures,
        })) {
          setJson(topic, config)
          keep(topic)
        }
      }
      for (const { alert_id, is_firing } of alerts) {
        publishAlert(alert_id, is_firing)
        keep(topics.alertState(alert_id))
      }
      engineNames = new Map(engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]))
      for (const { engine_id, engine_status, engine_reason } of engines) {
        publishEngine(engine_id, { engine_status, engine_reason })
        keep(topics.engineState(engine_id))
      }
      for (const topic of previous) queue.removeState(topic)
    },

    applyMessage(message) {
      const { kind, channel_id, source_id, engine_id, data } = message
      const channel = channels.get(channel_id ?? '')
      if (channel) applyChannelMessage(channel, message)
      if (kind === 'system_alert') addSystemAlert(message)
      if (kind === 'source_state' && source_id !== null) setJson(topics.sourceState(source_id), data)
      if (kind === 'engine_state' && engine_id !== null && isNew(message)) publishEngine(engine_id, data)
    },

    removeStale(topic) {
      const parsed = parseDiscoveryTopic(topic)
      if (queue.hasState(topic) || !parsed) return
      const { channel_id, alert_id } = parsed
      queue.removeState(topic)
      if (alert_id !== undefined && !queue.hasState(topics.alertState(alert_id)))
        queue.removeState(topics.alertState(alert_id))
      if (channels.has(channel_id)) return
      for (const toTopic of [topics.channelState, topics.counts, topics.picture])
        queue.removeState(toTopic(channel_id))
    },
  }
}
