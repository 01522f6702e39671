import { feedCounts } from '@eyrie/contract/management/feed'
import type {
  PublishedChannel,
  SchedulerFeedMessage,
  SchedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import type { PublishQueue } from './publish-queue.ts'
import {
  listFeedTopics,
  listRecordStates,
  type RecordState,
  toAlertState,
  toChannelState,
  toCountsState,
  toEngineState,
} from './record-states.ts'
import { parseDiscoveryTopic, type Topics } from './topics.ts'

/** The kinds of messages whose states are part of an inventory. */
const INVENTORY_KINDS = new Set(['count', 'alert_state', 'channel_state', 'engine_state'])

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
  /** The channels of the last inventory, as later messages have changed them. */
  let channels = new Map<string, PublishedChannel>()
  let engineNames = new Map<string, string>()
  /** Position in the feed up to which the inventory contains all states. */
  let inventoryPosition = 0
  let hasPictures = false

  const publishState = ({ topic, payload }: RecordState) => queue.setState(topic, payload)
  const publishEvent = (topic: string, event: object) => {
    queue.addEvent(topic, JSON.stringify(event))
  }

  function applyChannelMessage(channel: PublishedChannel, message: SchedulerFeedMessage) {
    const { channel_id } = channel
    const { kind, data } = message
    switch (kind) {
      case 'notification':
        return publishEvent(topics.notification(channel_id), toChannelEvent(channel, message))
      case 'incident':
        return publishEvent(topics.incident(channel_id), toChannelEvent(channel, message))
      case 'picture': {
        const picture = { picture: String(data.attachment) }
        if (hasPictures) queue.setState(topics.picture(channel_id), picture)
        return
      }
      // A count of a new statistic is published once the next inventory lists the statistic.
      case 'count':
        channel.counts = { ...channel.counts, ...feedCounts.parse(data.counts) }
        return publishState(toCountsState(channel, topics))
      case 'alert_state': {
        const alert = { alert_id: String(data.alert_id), is_firing: data.is_firing === true }
        return publishState(toAlertState(alert, topics))
      }
      case 'channel_state':
        channel.status = String(data.status)
        channel.reason = String(data.reason)
        channel.is_active = data.is_active === true
        channel.is_current = data.is_current === true
        return publishState(toChannelState(channel, topics))
    }
  }

  return {
    applyInventory(inventory) {
      const { engines } = inventory
      inventoryPosition = inventory.position
      hasPictures = inventory.settings.mqtt_is_picture
      channels = new Map(inventory.channels.map(channel => [channel.channel_id, channel]))
      engineNames = new Map(engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]))

      const states = listRecordStates(inventory, topics)
      for (const state of states) publishState(state)

      const stateTopics = states.map(({ topic }) => topic)
      const currentTopics = new Set([...stateTopics, ...listFeedTopics(inventory, topics)])
      const staleTopics = queue.listStates().filter(topic => !currentTopics.has(topic))
      for (const topic of staleTopics) queue.removeState(topic)
    },

    applyMessage(message) {
      // The inventory already contains the states of older messages.
      const isOutdated = INVENTORY_KINDS.has(message.kind) && message.position <= inventoryPosition
      if (isOutdated) return

      const { kind, channel_id, source_id, engine_id, data } = message
      const channel = channels.get(channel_id ?? '')
      if (channel) applyChannelMessage(channel, message)
      if (kind === 'system_alert') publishEvent(topics.systemAlert, toSystemAlert(message))
      if (kind === 'source_state' && source_id !== null) {
        publishState({ topic: topics.sourceState(source_id), payload: JSON.stringify(data) })
      }
      if (kind === 'engine_state' && engine_id !== null) {
        const state = { engine_name: engineNames.get(engine_id), ...data }
        publishState(toEngineState(engine_id, state, topics))
      }
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

function toChannelEvent(
  { channel_id, channel_name }: PublishedChannel,
  { position, time, data }: SchedulerFeedMessage,
) {
  return { id: String(position), time, channel_id, channel_name, ...data }
}

function toSystemAlert({ position, time, source_id, engine_id, data }: SchedulerFeedMessage) {
  return { id: String(position), time, source_id, engine_id, ...data }
}
