import { setTimeout as wait } from 'node:timers/promises'
import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import type { SchedulerInventory } from '@eyrie/contract/management/scheduler-feed'
import { backoffDelayMs, type Egress, type Log } from '@eyrie/kit'
import type { FeedClient } from '../management-client/feed-client.ts'
import { connectToBroker } from './broker-connection.ts'
import { runBrokerSession, type SessionOptions, withdrawStates } from './broker-session.ts'
import { createPublishQueue, type PublishQueue } from './publish-queue.ts'
import { createPublishedRecords, type PublishedRecords } from './published-records.ts'
import { createTopics, type Topics } from './topics.ts'

const MANAGEMENT_BACKOFF = { initialMs: 250, maxMs: 5_000 }
const BROKER_BACKOFF = { initialMs: 500, maxMs: 30_000 }
/** How long the last messages may delay the end of the process. */
const STOP_TIMEOUT_MS = 800

export interface MqttBridgeOptions {
  management: FeedClient
  /** Opens the connection to the broker. */
  egress: Egress
  log: Log
}

export interface MqttBridgeStatus {
  /** Whether the settings enable publishing. */
  isEnabled: boolean
  isConnected: boolean
  /** Why the last attempt to connect failed; empty while connected. */
  reason: string
  /** Events that were dropped because the broker was unreachable for too long. */
  droppedEvents: number
}

/** Publishes what management reports to an MQTT broker. */
export interface MqttBridge {
  start(): void
  stop(): Promise<void>
  status(): MqttBridgeStatus
}

/** The parts that exist while publishing is enabled, for one state of the settings. */
interface Publisher {
  settings: MqttSettings
  topics: Topics
  queue: PublishQueue
  records: PublishedRecords
  /** Ends the connection. With `withdraw`, the states are removed from the broker first. */
  stop(options: { withdraw: boolean }): Promise<void>
}

export function createMqttBridge({ management, egress, log }: MqttBridgeOptions): MqttBridge {
  const stopping = new AbortController()
  const { signal } = stopping
  const { readPicture } = management
  let publisher: Publisher | undefined
  let following: Promise<void> | undefined
  let isConnected = false
  let reason = ''
  let droppedBefore = 0

  const waitFor = (ms: number) => wait(ms, undefined, { signal }).catch(() => {})

  function startPublisher(settings: MqttSettings): Publisher {
    const topics = createTopics(settings)
    const queue = createPublishQueue()
    const records = createPublishedRecords(queue, topics)
    const ending = new AbortController()
    let withdraws = false
    const { signal: ended } = ending

    async function publishUntilEnded(session: SessionOptions): Promise<void> {
      const { connection } = session
      try {
        await runBrokerSession(session, ended)
        if (withdraws) await withdrawStates(session)
        else await connection.publish(topics.status, 'offline', { retain: true })
      } finally {
        await connection.close()
      }
    }

    async function connectRepeatedly(): Promise<void> {
      for (let failures = 0; !ended.aborted; ) {
        try {
          const will = { topic: topics.status, payload: 'offline' }
          const connection = await connectToBroker(egress, settings, will, ended)
          isConnected = true
          if (failures > 0) log.info('connected to the MQTT broker')
          failures = 0
          reason = ''
          await publishUntilEnded({ connection, settings, topics, queue, records, readPicture, log })
        } catch (error) {
          if (ended.aborted) break
          reason = (error as Error).message
          if (failures === 0) log.warn({ err: error }, 'failed to publish to the MQTT broker')
          isConnected = false
          await wait(backoffDelayMs(failures, BROKER_BACKOFF), undefined, { signal: ended }).catch(() => {})
          failures += 1
        }
      }
      isConnected = false
    }

    const running = connectRepeatedly()
    return {
      settings,
      topics,
      queue,
      records,
      async stop({ withdraw }) {
        withdraws = withdraw
        ending.abort()
        await running
        droppedBefore += queue.countDropped()
      },
    }
  }

  /** Starts and stops publishing according to the settings. */
  async function applyInventory(inventory: SchedulerInventory): Promise<void> {
    const { settings } = inventory
    const isEnabled = settings.mqtt_is_enabled && settings.mqtt_url !== ''
    if (publisher && JSON.stringify(publisher.settings) !== JSON.stringify(settings)) {
      await publisher.stop({ withdraw: true })
      publisher = undefined
      reason = ''
    }
    if (isEnabled) publisher ??= startPublisher(settings)
    publisher?.records.applyInventory(inventory)
  }

  async function follow(): Promise<void> {
    /** Undefined until the first inventory. */
    let position: number | undefined
    let isOutdated = true
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (isOutdated) {
          const inventory = await management.readInventory(signal)
          // Messages that are older than the inventory may be events, which must not be skipped.
          position ??= inventory.position
          await applyInventory(inventory)
          isOutdated = false
        }
        // Without a broker, only changed settings are of interest.
        const kind = publisher ? undefined : 'inventory'
        const batch = await management.readFeed(position!, kind, signal)
        for (const message of batch.messages) publisher?.records.applyMessage(message)
        isOutdated = batch.is_expired || batch.messages.some(message => message.kind === 'inventory')
        position = batch.is_expired ? undefined : batch.position
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        if (failures === 0) log.warn({ err: error }, 'failed to follow the live feed')
        await waitFor(backoffDelayMs(failures, MANAGEMENT_BACKOFF))
        failures += 1
      }
    }
  }

  return {
    start() {
      following = follow()
    },
    async stop() {
      stopping.abort()
      const stopped = Promise.all([following, publisher?.stop({ withdraw: false })])
      // If the time is over, the broker publishes the last will.
      await Promise.race([stopped, wait(STOP_TIMEOUT_MS)])
    },
    status: () => ({
      isEnabled: publisher !== undefined,
      isConnected,
      reason,
      droppedEvents: droppedBefore + (publisher?.queue.countDropped() ?? 0),
    }),
  }
}
