import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { backoffDelayMs, type Egress, type Log, sleep } from '@eyrie/kit'
import { type BrokerConnection, connectToBroker } from './broker-connection.ts'
import { runBrokerSession, type SessionOptions, withdrawStates } from './broker-session.ts'
import { createPublishQueue } from './publish-queue.ts'
import { createPublishedRecords, type PublishedRecords } from './published-records.ts'
import { createRefusedTopics } from './refused-topics.ts'
import { createTopics } from './topics.ts'

/** Publishes records to the MQTT broker of the settings, and reconnects until it is stopped. */
export interface Publisher {
  readonly settings: MqttSettings
  readonly records: PublishedRecords
  status(): PublisherStatus
  /** Ends the connection. With `withdraw`, all states are removed from the broker first. */
  stop(options: { withdraw: boolean }): Promise<void>
}

/** The state of the connection to the broker. */
interface BrokerStatus {
  isConnected: boolean
  /** Why the last attempt to connect failed; empty while connected. */
  reason: string
}

export interface PublisherStatus extends BrokerStatus {
  /** Number of events that were dropped: too many waited for the broker, or it refuses them. */
  droppedEvents: number
}

export interface PublisherOptions {
  /** Opens the connection to the broker. */
  egress: Egress
  readPicture: SessionOptions['readPicture']
  log: Log
}

const BACKOFF = { initialMs: 500, maxMs: 30_000 }
/**
 * Duration of a connection after which the pauses are short again. Shorter connections count as
 * failures: the broker may accept each connection and close it soon.
 */
const STABLE_MS = 60_000

export function startPublisher(settings: MqttSettings, options: PublisherOptions): Publisher {
  const { egress, readPicture, log } = options
  const topics = createTopics(settings)
  const queue = createPublishQueue()
  const records = createPublishedRecords(queue, topics)
  const refusedTopics = createRefusedTopics()
  const stopping = new AbortController()
  const { signal } = stopping
  let isWithdrawing = false
  let broker: BrokerStatus = { isConnected: false, reason: '' }

  async function publishUntilStopped(connection: BrokerConnection): Promise<void> {
    const session = {
      connection,
      settings,
      topics,
      queue,
      refusedTopics,
      records,
      readPicture,
      log,
    }
    try {
      await runBrokerSession(session, signal)
      if (isWithdrawing) await withdrawStates(session)
      else await connection.publish(topics.status, 'offline', { retain: true })
    } finally {
      await connection.close()
    }
  }

  async function connectUntilStopped(): Promise<void> {
    const will = { topic: topics.status, payload: 'offline' }
    let failures = 0
    while (!signal.aborted) {
      let connectedAt: number | undefined
      try {
        const connection = await connectToBroker(egress, settings, will, signal)
        if (failures > 0) log.info('connected to the MQTT broker')
        connectedAt = performance.now()
        broker = { isConnected: true, reason: '' }
        await publishUntilStopped(connection)
      } catch (error) {
        if (signal.aborted) break
        broker = { isConnected: false, reason: (error as Error).message }
        const connectedMs = connectedAt === undefined ? 0 : performance.now() - connectedAt
        if (connectedMs >= STABLE_MS) failures = 0
        if (failures === 0 || connectedMs > 0)
          log.warn({ err: error }, 'failed to publish to the MQTT broker')
        await sleep(backoffDelayMs(failures, BACKOFF), signal)
        failures++
      }
    }
    broker = { ...broker, isConnected: false }
  }

  const running = connectUntilStopped()
  return {
    settings,
    records,
    status: () => ({ ...broker, droppedEvents: queue.countDropped() }),
    async stop({ withdraw }) {
      isWithdrawing = withdraw
      stopping.abort()
      await running
    },
  }
}
