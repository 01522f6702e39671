import { type FeedCounts, feedCounts } from '@eyrie/contract/management/feed'
import type {
  PublishedChannel,
  SchedulerFeedMessage,
  SchedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import { createDiscoveryConfigs, type DiscoveryConfig } from './discovery.ts'
import type { PublishQueue } from './publish-queue.ts'
import { parseDiscoveryTopic, type Topics } from './topics.ts'

/** Converts the records and messages of management to MQTT messages, and adds them to the publish queue. */
export interface PublishedRecords {
  /** Publishes the states of all records, and removes the states of records that no longer exist. */
  applyInventory(inventory: SchedulerInventory): void
  applyMessage(message: SchedulerFeedMessage): void
  /**
   * Removes a retained message that an earlier process has published for a record that no longer exists. `topic` is a discovery
   * topic on the broker.
   */
  removeStale(topic: string): void
}

export function createPublishedRecords(queue: PublishQueue, topics: Topics): PublishedRecords {
  let channels = new Map<string, PublishedChannel>()
  let engineNames = new Map<string, string>()
  /** Position in the feed up to which the inventory contains all states. */
  let inventoryPosition = 0
  let hasPictures = false

  const setState = (topic: string, value: object) => queue.setState(topic, JSON.stringify(value))
  const addEvent = (topic: string, value: object) => queue.addEvent(topic, JSON.stringify(value))

  /** Whether a message has a newer state than the inventory. */
  const isNew = ({ position }: SchedulerFeedMessage) => position > inventoryPosition

  function publishCounts(channel: PublishedChannel) {
    setState(topics.counts(channel.channel_id), toCounts(channel))
  }

  function publishChannelState(channel: PublishedChannel) {
    setState(topics.channelState(channel.channel_id), toChannelState(channel))
  }

  function publishEngine(engine_id: string, state: object) {
    setState(topics.engineState(engine_id), { engine_name: engineNames.get(engine_id), ...state })
  }

  function publishAlert(alert_id: string, is_firing: boolean) {
    queue.setState(topics.alertState(alert_id), is_firing ? 'ON' : 'OFF')
  }

  /** Adds counts to a channel. The next inventory describes statistics that are still unknown. */
  function applyCounts(channel: PublishedChannel, counts: FeedCounts) {
    channel.counts = { ...channel.counts, ...counts }
    publishCounts(channel)
  }

  function applyChannelState(channel: PublishedChannel, data: SchedulerFeedMessage['data']) {
    channel.status = String(data.status)
    channel.reason = String(data.reason)
    channel.is_active = data.is_active === true
    channel.is_current = data.is_current === true
    publishChannelState(channel)
  }

  function applyChannelMessage(channel: PublishedChannel, message: SchedulerFeedMessage) {
    const { channel_id } = channel
    const { kind, data } = message
    switch (kind) {
      case 'notification':
        return addEvent(topics.notification(channel_id), toChannelEvent(channel, message))
      case 'incident':
        return addEvent(topics.incident(channel_id), toChannelEvent(channel, message))
      case 'picture':
        if (hasPictures) queue.setState(topics.picture(channel_id), { picture: String(data.attachment) })
        return
      case 'count':
        if (isNew(message)) applyCounts(channel, feedCounts.parse(data.counts))
        return
      case 'alert_state':
        if (isNew(message)) publishAlert(String(data.alert_id), data.is_firing === true)
        return
      case 'channel_state':
        if (isNew(message)) applyChannelState(channel, data)
    }
  }

  function createAllDiscoveryConfigs({ settings, alerts }: SchedulerInventory): DiscoveryConfig[] {
    if (!settings.mqtt_is_discovery) return []
    const alertsByChannel = Map.groupBy(alerts, ({ channel_id }) => channel_id)
    return [...channels.values()].flatMap(channel => {
      const channelAlerts = alertsByChannel.get(channel.channel_id) ?? []
      return createDiscoveryConfigs(channel, channelAlerts, topics, { hasPictures })
    })
  }

  /** Returns the topics that the records of an inventory may have, without discovery topics. */
  function listTopics(inventory: SchedulerInventory): string[] {
    const channelTopics = inventory.channels.flatMap(({ channel_id, source_id }) => [
      topics.counts(channel_id),
      topics.channelState(channel_id),
      topics.sourceState(source_id),
      ...(hasPictures ? [topics.picture(channel_id)] : []),
    ])
    const alertTopics = inventory.alerts.map(({ alert_id }) => topics.alertState(alert_id))
    const engineTopics = inventory.engines.map(({ engine_id }) => topics.engineState(engine_id))
    return [...channelTopics, ...alertTopics, ...engineTopics]
  }

  return {
    applyInventory(inventory) {
      const { position, settings, alerts, engines } = inventory
      inventoryPosition = position
      hasPictures = settings.mqtt_is_picture
      channels = new Map(inventory.channels.map(channel => [channel.channel_id, channel]))
      engineNames = new Map(engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]))

      for (const channel of channels.values()) {
        publishCounts(channel)
        publishChannelState(channel)
      }
      const discoveryConfigs = createAllDiscoveryConfigs(inventory)
      for (const { topic, config } of discoveryConfigs) setState(topic, config)
      for (const { alert_id, is_firing } of alerts) publishAlert(alert_id, is_firing)
      for (const { engine_id, engine_status, engine_reason } of engines)
        publishEngine(engine_id, { engine_status, engine_reason })

      const currentTopics = new Set([...listTopics(inventory), ...discoveryConfigs.map(({ topic }) => topic)])
      for (const topic of queue.listStates()) if (!currentTopics.has(topic)) queue.removeState(topic)
    },

    applyMessage(message) {
      const { kind, channel_id, source_id, engine_id, data } = message
      const channel = channels.get(channel_id ?? '')
      if (channel) applyChannelMessage(channel, message)
      if (kind === 'system_alert') addEvent(topics.systemAlert, toSystemAlert(message))
      if (kind === 'source_state' && source_id !== null) setState(topics.sourceState(source_id), data)
      if (kind === 'engine_state' && engine_id !== null && isNew(message)) publishEngine(engine_id, data)
    },

    removeStale(topic) {
      const record = parseDiscoveryTopic(topic)
      if (!record || queue.hasState(topic)) return
      queue.removeState(topic)

      const { channel_id, alert_id } = record
      const alertTopic = alert_id && topics.alertState(alert_id)
      if (alertTopic && !queue.hasState(alertTopic)) queue.removeState(alertTopic)

      if (channels.has(channel_id)) return
      queue.removeState(topics.channelState(channel_id))
      queue.removeState(topics.counts(channel_id))
      queue.removeState(topics.picture(channel_id))
    },
  }
}

/** Returns the values of a channel's statistics by their keys. */
function toCounts({ statistics, counts }: PublishedChannel): Record<string, number> {
  return Object.fromEntries(statistics.map(({ key }) => [key, counts[key]?.value ?? 0]))
}

function toChannelState({ channel_name, status, reason, is_active, is_current }: PublishedChannel) {
  const is_connected = is_current && status !== 'lost' && is_active
  return { channel_name, status, reason, is_active, is_connected }
}

function toChannelEvent(
  { channel_id, channel_name }: PublishedChannel,
  { position, time, data }: SchedulerFeedMessage,
) {
  return { id: String(position), time, channel_id, channel_name, ...data }
}

function toSystemAlert({ position, time, source_id, engine_id, data }: SchedulerFeedMessage) {
  return { id: String(position), time, source_id, engine_id, ...data }
}
