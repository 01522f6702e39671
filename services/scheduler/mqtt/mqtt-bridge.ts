import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type {
  SchedulerFeedBatch,
  SchedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
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

/** How far the feed was read. The messages after `position` must be read next. */
type FeedProgress =
  /** No inventory was read, or messages after the last position were deleted. */
  | { state: 'unread' }
  /** `outdated`: the inventory has changed since it was read. */
  | { state: 'outdated' | 'current'; position: number }

export function createMqttBridge({ management, egress, log }: MqttBridgeOptions): MqttBridge {
  const stopping = new AbortController()
  const { signal } = stopping
  const { readPicture } = management
  /** Exists while publishing is enabled. */
  let publisher: Publisher | undefined
  let following: Promise<void> | undefined
  /** Number of events that earlier publishers have dropped. */
  let droppedBefore = 0
  let progress: FeedProgress = { state: 'unread' }

  /** Reads the inventory if it is outdated, then the next messages of the feed. */
  async function followFeed(): Promise<void> {
    const after = progress.state === 'current' ? progress.position : await updateInventory()

    // Without a publisher, only changes of the settings matter.
    const kind = publisher ? undefined : 'inventory'
    const batch = await management.readFeed({ after, kind, signal })
    for (const message of batch.messages) publisher?.records.applyMessage(message)
    progress = toProgress(batch)
  }

  /** Returns the position in the feed after which messages must be read. */
  async function updateInventory(): Promise<number> {
    const inventory = await management.readInventory(signal)
    // A known position remains. There may be events between it and the inventory, which must not be
    // skipped.
    const position = progress.state === 'unread' ? inventory.position : progress.position
    progress = { state: 'outdated', position }
    await applyInventory(inventory)
    progress = { state: 'current', position }
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

/** Returns the progress after the messages of a batch. */
function toProgress({ messages, position, is_expired }: SchedulerFeedBatch): FeedProgress {
  if (is_expired) return { state: 'unread' }
  const hasChanged = messages.some(({ kind }) => kind === 'inventory')
  return { state: hasChanged ? 'outdated' : 'current', position }
}
