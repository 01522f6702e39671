import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { SchedulerInventory } from '@eyrie/contract/management/scheduler-feed'
import { type Egress, type Log, repeat } from '@eyrie/kit'
import type { FeedClient } from '../management-client/feed-client.ts'
import { type Publisher, type PublisherStatus, startPublisher } from './publisher.ts'

const MANAGEMENT_BACKOFF = { initialMs: 250, maxMs: 5_000 }
/** Maximum time by which the last messages may delay the end of the process. */
const STOP_TIMEOUT_MS = 800

export interface MqttBridgeOptions {
  management: FeedClient
  /** Opens the connection to the broker. */
  egress: Egress
  log: Log
}

export interface MqttBridgeStatus extends PublisherStatus {
  /** Whether the settings enable publishing. */
  isEnabled: boolean
}

/**
 * Follows the live feed of management and publishes it to an MQTT broker, while the settings enable
 * this.
 */
export interface MqttBridge {
  start(): void
  stop(): Promise<void>
  status(): MqttBridgeStatus
}

export function createMqttBridge({ management, egress, log }: MqttBridgeOptions): MqttBridge {
  const stopping = new AbortController()
  const { signal } = stopping
  const { readPicture } = management
  /** Exists while publishing is enabled. */
  let publisher: Publisher | undefined
  let following: Promise<void> | undefined
  /** Number of events that earlier publishers have dropped. */
  let droppedBefore = 0
  /**
   * Position in the feed after which messages must be read. Undefined until the inventory has been
   * read.
   */
  let position: number | undefined
  let isInventoryOutdated = true

  /** Reads the inventory if it is outdated, then the next messages of the feed. */
  async function followFeed(): Promise<void> {
    const known = isInventoryOutdated ? undefined : position
    const after = known ?? (await updateInventory())

    // Without a publisher, only changes of the settings matter.
    const kind = publisher ? undefined : 'inventory'
    const batch = await management.readFeed({ after, kind, signal })
    const { messages, is_expired: isExpired } = batch
    for (const message of messages) publisher?.records.applyMessage(message)

    isInventoryOutdated = isExpired || messages.some(message => message.kind === 'inventory')
    position = isExpired ? undefined : batch.position
  }

  /** Returns the position in the feed after which messages must be read. */
  async function updateInventory(): Promise<number> {
    const inventory = await management.readInventory(signal)
    // A known position remains. There may be events between it and the inventory, which must not be
    // skipped.
    position ??= inventory.position
    await applyInventory(inventory)
    isInventoryOutdated = false
    return position
  }

  /**
   * Starts, replaces or stops the publisher as the settings require. Then publishes the records of
   * the inventory.
   */
  async function applyInventory(inventory: SchedulerInventory): Promise<void> {
    const { settings } = inventory
    if (publisher && !isDeepStrictEqual(publisher.settings, settings)) {
      await publisher.stop({ withdraw: true })
      droppedBefore += publisher.status().droppedEvents
      publisher = undefined
    }

    const isEnabled = settings.mqtt_is_enabled && settings.mqtt_url !== ''
    if (isEnabled) publisher ??= startPublisher(settings, { egress, readPicture, log })
    publisher?.records.applyInventory(inventory)
  }

  return {
    start() {
      following = repeat(followFeed, {
        signal,
        backoff: MANAGEMENT_BACKOFF,
        onFailure: error => log.warn({ err: error }, 'failed to follow the live feed'),
      })
    },
    async stop() {
      stopping.abort()
      const stopped = Promise.all([following, publisher?.stop({ withdraw: false })])
      // After this time, the broker publishes the last will.
      await Promise.race([stopped, wait(STOP_TIMEOUT_MS)])
    },
    status() {
      const { isConnected = false, reason = '', droppedEvents = 0 } = publisher?.status() ?? {}
      return {
        isEnabled: publisher !== undefined,
        isConnected,
        reason,
        droppedEvents: droppedBefore + droppedEvents,
      }
    },
  }
}
