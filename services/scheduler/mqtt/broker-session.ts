import { setTimeout as wait } from 'node:timers/promises'
import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import type { Log } from '@eyrie/kit'
import type { BrokerConnection } from './broker-connection.ts'
import type { Publication, PublishQueue } from './publish-queue.ts'
import type { PublishedRecords } from './published-records.ts'
import type { Topics } from './topics.ts'

/** Messages that wait for the confirmation of the broker at the same time. */
const CONCURRENCY = 32
/** Time in which everything that was published is removed when the settings change. */
const WITHDRAW_TIMEOUT_MS = 5000
/** Pause after a failure that is not the broker's. */
const RETRY_MS = 1000

export interface SessionOptions {
  connection: BrokerConnection
  settings: MqttSettings
  topics: Topics
  queue: PublishQueue
  records: PublishedRecords
  /** Returns a picture, a JPEG, if it is stored. */
  readPicture(sha256: string, signal: AbortSignal): Promise<Buffer | undefined>
  log: Log
}

/**
 * Publishes until the connection is lost or `signal` is aborted: first that the appliance is online and all states, then what is
 * added to the queue. All states follow again when Home Assistant has started. Rejects when the connection is lost.
 */
export async function runBrokerSession(options: SessionOptions, signal: AbortSignal): Promise<void> {
  const { connection, settings, topics, queue, records } = options
  queue.republish()
  await connection.publish(topics.status, 'online', { retain: true })
  if (settings.mqtt_is_discovery)
    await connection.subscribe([topics.birth, topics.discoveryFilter], (topic, payload) => {
      if (topic !== topics.birth) {
        if (payload.length > 0) records.removeStale(topic)
      } else if (payload.toString() === 'online') {
        void connection.publish(topics.status, 'online', { retain: true }).catch(() => {})
        queue.republish()
      }
    })

  const ended = AbortSignal.any([signal, connection.lost])
  while (!signal.aborted) {
    connection.lost.throwIfAborted()
    await queue.waitForPublications(ended)
    await publishNext(options)
  }
}

/** Publishes a part of the queue. What the broker does not confirm returns to the queue. */
async function publishNext({ connection, queue, readPicture, log }: SessionOptions): Promise<void> {
  const taken = queue.take(CONCURRENCY)
  const results = await Promise.allSettled(
    taken.map(publication => publish(publication, connection, readPicture)),
  )
  const failed = taken.filter((_, index) => results[index]!.status === 'rejected')
  queue.putBack(failed)
  connection.lost.throwIfAborted()
  if (failed.length === 0) return
  // The connection works, so that it was a picture that could not be read.
  const [rejected] = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
  log.warn({ count: failed.length, err: rejected!.reason }, 'failed to publish messages')
  await wait(RETRY_MS)
}

async function publish(
  { topic, payload, kind }: Publication,
  connection: BrokerConnection,
  readPicture: SessionOptions['readPicture'],
): Promise<void> {
  const retain = kind === 'state'
  if (typeof payload === 'string') return connection.publish(topic, payload, { retain })
  const picture = await readPicture(payload.picture, connection.lost)
  // A picture that was deleted in the meantime leaves the one before.
  if (picture) await connection.publish(topic, picture, { retain })
}

/** Removes all states from the broker, because the settings have changed. */
export async function withdrawStates({ connection, topics, queue }: SessionOptions): Promise<void> {
  const timeout = AbortSignal.timeout(WITHDRAW_TIMEOUT_MS)
  for (const topic of [...queue.listStates(), topics.status]) {
    if (timeout.aborted) return
    await connection.publish(topic, '', { retain: true })
  }
}
