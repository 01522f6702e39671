import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { type Log, sleep } from '@eyrie/kit'
import type { BrokerConnection } from './broker-connection.ts'
import type { Publication, PublishQueue } from './publish-queue.ts'
import type { PublishedRecords } from './published-records.ts'
import type { RefusedTopics } from './refused-topics.ts'
import type { Topics } from './topics.ts'

/** Maximum number of messages that wait for the broker's confirmation at the same time. */
const CONCURRENCY = 32
/** Time within which all states are removed from the broker when the settings change. */
const WITHDRAW_TIMEOUT_MS = 5000
/** Maximum time for reading a picture. Other messages wait meanwhile. */
const PICTURE_TIMEOUT_MS = 5000
const REFUSED = 'dropping messages because the broker closes the connection when it receives them'
/** Pause after messages could not be published although the broker is connected. */
const RETRY_MS = 1000

export interface SessionOptions {
  connection: BrokerConnection
  settings: MqttSettings
  topics: Topics
  queue: PublishQueue
  /** Their messages are dropped. */
  refusedTopics: RefusedTopics
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
async function publishNext(options: SessionOptions, ended: AbortSignal): Promise<void> {
  const { connection, queue, refusedTopics, readPicture, log } = options

  async function readPayload(payload: Publication['payload']) {
    if (typeof payload === 'string') return payload
    const signal = AbortSignal.any([ended, AbortSignal.timeout(PICTURE_TIMEOUT_MS)])
    return readPicture(payload.picture, signal)
  }

  async function tryToPublish(publication: Publication) {
    const { topic, kind } = publication
    if (refusedTopics.isRefused(topic)) return queue.drop(publication)
    let isSent = false
    try {
      const payload = await readPayload(publication.payload)
      // If the picture was deleted meanwhile, the previous one remains on the broker.
      if (payload !== undefined) {
        isSent = true
        await connection.publish(topic, payload, { retain: kind === 'state' })
      }
      refusedTopics.recordConfirmation(topic)
      return undefined
    } catch (error) {
      return { publication, error, isSent }
    }
  }

  const limit = refusedTopics.hasSuspects() ? 1 : CONCURRENCY
  const results = await Promise.all(queue.take(limit).map(tryToPublish))
  const failures = results.filter(result => result !== undefined)
  queue.putBack(failures.map(({ publication }) => publication))

  if (connection.lost.aborted) {
    const sent = failures.filter(({ isSent }) => isSent)
    const refused = refusedTopics.recordLoss(sent.map(({ publication }) => publication.topic))
    if (refused.length > 0) log.warn({ topics: refused }, REFUSED)
    throw connection.lost.reason
  }
  const [firstFailure] = failures
  if (!firstFailure || ended.aborted) return
  // The broker is connected, so the cause is a picture that could not be read.
  log.warn({ count: failures.length, err: firstFailure.error }, 'failed to publish messages')
  await sleep(RETRY_MS, ended)
}
