import { type FeedCounts, feedCounts } from '@eyrie/contract/management/feed'
import type {
  PublishedChannel,
  SchedulerFeedMessage,
  SchedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import { createDiscoveryConfigs, type DiscoveryConfig } from './discovery.ts'
import type { PublishQueue } from './publish-queue.ts'
import { parseDiscoveryTopic, type Topics } from './topics.ts'

/**
 * Converts the records and messages of management to MQTT messages, and adds them to the publish
 * queue.
 */
export interface PublishedRecords {
  /**
   * Publishes the states of all records, and removes the states of records that no longer exist.
   */
  applyInventory(inventory: SchedulerInventory): void
  applyMessage(message: SchedulerFeedMessage): void
  /**
   * Removes a retained message that an earlier process has published for a record that no longer
   * exists. `topic` is a discovery topic on the broker.
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

  /**
   * Returns whether a message is newer than the inventory, which already contains the
   * state in an older one.
   */
  const isNewerThanInventory = ({ position }: SchedulerFeedMessage) => position > inventoryPosition

  function publishCounts(channel: PublishedChannel) {
    setState(topics.counts(channel.channel_id), toCounts(channel))
  }

  function publishChannelState(channel: PublishedChannel) {
    setState(topics.channelState(channel.channel_id), toChannelState(channel))
  }

  function publishEngine(engineId: string, state: object) {
    setState(topics.engineState(engineId), { engine_name: engineNames.get(engineId), ...state })
  }

  function publishAlert(alertId: string, isFiring: boolean) {
    queue.setState(topics.alertState(alertId), isFiring ? 'ON' : 'OFF')
  }

  /**
   * Adds counts to a channel. A count of a new statistic is published once the next inventory
   * lists the statistic.
   */
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
    const { channel_id: channelId } = channel
    const { kind, data } = message
    switch (kind) {
      case 'notification':
        return addEvent(topics.notification(channelId), toChannelEvent(channel, message))
      case 'incident':
        return addEvent(topics.incident(channelId), toChannelEvent(channel, message))
      case 'picture':
        if (hasPictures) {
          queue.setState(topics.picture(channelId), { picture: String(data.attachment) })
        }
        return
      case 'count':
        if (isNewerThanInventory(message)) applyCounts(channel, feedCounts.parse(data.counts))
        return
      case 'alert_state':
        if (isNewerThanInventory(message)) {
          publishAlert(String(data.alert_id), data.is_firing === true)
        }
        return
      case 'channel_state':
        if (isNewerThanInventory(message)) applyChannelState(channel, data)
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
    const channelTopics = inventory.channels.flatMap(
      ({ channel_id: channelId, source_id: sourceId }) => [
        topics.counts(channelId),
        topics.channelState(channelId),
        topics.sourceState(sourceId),
        ...(hasPictures ? [topics.picture(channelId)] : []),
      ],
    )
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
      for (const { alert_id: alertId, is_firing: isFiring } of alerts) {
        publishAlert(alertId, isFiring)
      }
      for (const {
        engine_id: engineId,
        engine_status: engineStatus,
        engine_reason: engineReason,
      } of engines) {
        publishEngine(engineId, { engine_status: engineStatus, engine_reason: engineReason })
      }

      const currentTopics = new Set([
        ...listTopics(inventory),
        ...discoveryConfigs.map(({ topic }) => topic),
      ])
      const staleTopics = queue.listStates().filter(topic => !currentTopics.has(topic))
      for (const topic of staleTopics) queue.removeState(topic)
    },

    applyMessage(message) {
      const {
        kind,
        channel_id: channelId,
        source_id: sourceId,
        engine_id: engineId,
        data,
      } = message
      const channel = channels.get(channelId ?? '')
      if (channel) applyChannelMessage(channel, message)
      if (kind === 'system_alert') addEvent(topics.systemAlert, toSystemAlert(message))
      if (kind === 'source_state' && sourceId !== null) setState(topics.sourceState(sourceId), data)
      if (kind === 'engine_state' && engineId !== null && isNewerThanInventory(message)) {
        publishEngine(engineId, data)
      }
    },

    removeStale(topic) {
      const record = parseDiscoveryTopic(topic)
      if (!record || queue.hasState(topic)) return
      queue.removeState(topic)

      const { channel_id: channelId, alert_id: alertId } = record
      const alertTopic = alertId && topics.alertState(alertId)
      if (alertTopic && !queue.hasState(alertTopic)) queue.removeState(alertTopic)

      if (channels.has(channelId)) return
      queue.removeState(topics.channelState(channelId))
      queue.removeState(topics.counts(channelId))
      queue.removeState(topics.picture(channelId))
    },
  }
}

/** Returns the values of a channel's statistics by their keys. */
function toCounts({ statistics, counts }: PublishedChannel): Record<string, number> {
  return Object.fromEntries(statistics.map(({ key }) => [key, counts[key]?.value ?? 0]))
}

function toChannelState({
  channel_name: channelName,
  status,
  reason,
  is_active: isActive,
  is_current: isCurrent,
}: PublishedChannel) {
  const isConnected = isCurrent && status !== 'lost' && isActive
  return {
    channel_name: channelName,
    status,
    reason,
    is_active: isActive,
    is_connected: isConnected,
  }
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
