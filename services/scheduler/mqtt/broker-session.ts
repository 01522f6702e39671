import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { type Log, sleep } from '@eyrie/kit'
import type { BrokerConnection } from './broker-connection.ts'
import type { Publication, PublishQueue } from './publish-queue.ts'
import type { PublishedRecords } from './published-records.ts'
import type { Topics } from './topics.ts'

/** Maximum number of messages that wait for the broker's confirmation at the same time. */
const CONCURRENCY = 32
/** Time within which all states are removed from the broker when the settings change. */
const WITHDRAW_TIMEOUT_MS = 5000
/** Maximum time for reading a picture. Other messages wait meanwhile. */
const PICTURE_TIMEOUT_MS = 5000
/** Pause after messages could not be published although the broker is connected. */
const RETRY_MS = 1000

export interface SessionOptions {
  connection: BrokerConnection
  settings: MqttSettings
  topics: Topics
  queue: PublishQueue
  records: PublishedRecords
  /** Returns a picture as JPEG. Undefined if it is no longer stored. */
  readPicture(sha256: string, signal: AbortSignal): Promise<Buffer | undefined>
  log: Log
}

/**
 * Publishes on a connection until `signal` is aborted. First publishes that the
 * appliance is online, and all states. Then publishes messages as they are queued.
 * Rejects when the connection is lost.
 */
export async function runBrokerSession(
  options: SessionOptions,
  signal: AbortSignal,
): Promise<void> {
  const { connection, settings, queue } = options
  queue.republish()
  await publishOnline(options)
  if (settings.mqtt_is_discovery) await followHomeAssistant(options)

  const ended = AbortSignal.any([signal, connection.lost])
  while (!signal.aborted) {
    connection.lost.throwIfAborted()
    await queue.waitForPublications(ended)
    await publishNext(options, ended)
  }
}

/**
 * Removes all states from the broker, because new settings may publish them
 * elsewhere or not at all.
 */
export async function withdrawStates({ connection, topics, queue }: SessionOptions): Promise<void> {
  const timeout = AbortSignal.timeout(WITHDRAW_TIMEOUT_MS)
  for (const topic of [...queue.listStates(), topics.status]) {
    if (timeout.aborted) return
    await connection.publish(topic, '', { retain: true })
  }
}

function publishOnline({ connection, topics }: SessionOptions): Promise<void> {
  return connection.publish(topics.status, 'online', { retain: true })
}

/**
 * Publishes all states again when Home Assistant has started, and removes retained messages of
 * records that no longer exist.
 */
async function followHomeAssistant(options: SessionOptions): Promise<void> {
  const { connection, topics, queue, records } = options

  function onBirth(state: string): void {
    if (state !== 'online') return
    queue.republish()
    // If the connection is lost, the next session publishes this.
    void publishOnline(options).catch(() => {})
  }

  function onMessage(topic: string, payload: Buffer): void {
    if (topic === topics.birth) onBirth(payload.toString())
    // An empty payload reports that a retained message was removed.
    else if (payload.length > 0) records.removeStale(topic)
  }

  await connection.subscribe([topics.birth, topics.discoveryFilter], onMessage)
}

/**
 * Publishes the next messages of the queue. Messages that could not be published
 * return to the queue. `ended` ends the reading of pictures.
 */
async function publishNext(
  { connection, queue, readPicture, log }: SessionOptions,
  ended: AbortSignal,
): Promise<void> {
  async function tryToPublish(publication: Publication) {
    try {
      await publish(publication, connection, sha256 =>
        readPicture(sha256, AbortSignal.any([ended, AbortSignal.timeout(PICTURE_TIMEOUT_MS)])),
      )
      return undefined
    } catch (error) {
      return { publication, error }
    }
  }

  const results = await Promise.all(queue.take(CONCURRENCY).map(tryToPublish))
  const failures = results.filter(result => result !== undefined)
  queue.putBack(failures.map(({ publication }) => publication))

  connection.lost.throwIfAborted()
  const [firstFailure] = failures
  if (!firstFailure || ended.aborted) return
  // The broker is connected, so the cause is a picture that could not be read.
  log.warn({ count: failures.length, err: firstFailure.error }, 'failed to publish messages')
  await sleep(RETRY_MS, ended)
}

async function publish(
  { topic, payload, kind }: Publication,
  connection: BrokerConnection,
  readPicture: (sha256: string) => Promise<Buffer | undefined>,
): Promise<void> {
  const retain = kind === 'state'
  if (typeof payload === 'string') return connection.publish(topic, payload, { retain })

  const picture = await readPicture(payload.picture)
  // If the picture was deleted meanwhile, the previous one remains on the broker.
  if (picture) await connection.publish(topic, picture, { retain })
}
