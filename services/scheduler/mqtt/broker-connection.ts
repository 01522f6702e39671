import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { type Egress, openWebSocket } from '@eyrie/kit'
import type { MqttClient } from 'mqtt'
import { createWebSocketStream } from 'ws'

const CONNECT_TIMEOUT_MS = 10_000
const KEEPALIVE_S = 30
/** Time in which the broker has to confirm a message. */
const PUBLISH_TIMEOUT_MS = 20_000
const DEFAULT_PORTS: Record<string, number> = { 'mqtt:': 1883, 'mqtts:': 8883 }

/** A message that the broker publishes when the connection is lost. */
export interface LastWill {
  topic: string
  payload: string
}

/** An open connection to a broker. It is not restored when it is lost. */
export interface BrokerConnection {
  /** Resolves when the broker has confirmed the message. */
  publish(topic: string, payload: string | Buffer, options: { retain: boolean }): Promise<void>
  /** Calls `onMessage` for messages of these topics. */
  subscribe(topics: string[], onMessage: (topic: string, payload: Buffer) => void): Promise<void>
  /** Is aborted when the connection is lost. */
  readonly lost: AbortSignal
  /** Closes the connection, so that the broker does not publish the last will. */
  close(): Promise<void>
}

/** Connects to the broker of the settings. Rejects with `EgressDeniedError`, or with the error of the connection. */
export async function connectToBroker(
  egress: Egress,
  settings: MqttSettings,
  will: LastWill,
  stopping: AbortSignal,
): Promise<BrokerConnection> {
  const { MqttClient } = await import('mqtt')
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
  const stream = await openStream(egress, new URL(settings.mqtt_url), signal)
  const client = new MqttClient(() => stream, {
    ...(settings.mqtt_username !== '' && { username: settings.mqtt_username }),
    ...(settings.mqtt_password !== '' && { password: settings.mqtt_password }),
    will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true },
    keepalive: KEEPALIVE_S,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    clean: true,
  })
  const lost = new AbortController()
  client.on('close', () => lost.abort(new Error('the broker has closed the connection')))
  client.on('error', error => lost.abort(error))
  try {
    await waitUntilConnected(client, AbortSignal.any([signal, lost.signal]))
  } catch (error) {
    client.end(true)
    stream.destroy()
    throw error
  }
  return createConnection(client, lost)
}

async function waitUntilConnected(client: MqttClient, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const connected = new Promise<void>(resolve => client.once('connect', () => resolve()))
  await Promise.race([connected, aborted.promise]).finally(() => signal.removeEventListener('abort', abort))
}

function createConnection(client: MqttClient, lost: AbortController): BrokerConnection {
  /** Rejects when the connection is lost, because the client then never answers. */
  async function unlessLost<T>(work: Promise<T>): Promise<T> {
    const { signal } = lost
    const aborted = Promise.withResolvers<never>()
    const abort = () => aborted.reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    const timer = setTimeout(
      () => lost.abort(new Error('the broker does not confirm messages')),
      PUBLISH_TIMEOUT_MS,
    )
    // A work that fails after the connection is reported by the race.
    work.catch(() => {})
    return Promise.race([work, aborted.promise]).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    })
  }

  return {
    lost: lost.signal,
    async publish(topic, payload, { retain }) {
      await unlessLost(client.publishAsync(topic, payload, { qos: 1, retain }))
    },
    async subscribe(topics, onMessage) {
      client.on('message', onMessage)
      await unlessLost(client.subscribeAsync(topics, { qos: 0 }))
    },
    async close() {
      if (lost.signal.aborted) client.end(true)
      else await unlessLost(client.endAsync())
    },
  }
}

/** Opens the connection, with TLS where the address asks for it. */
async function openStream(egress: Egress, url: URL, signal: AbortSignal): Promise<Duplex> {
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined) return openWebSocketStream(egress, url, signal)
  const server = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || defaultPort }
  const isSecure = url.protocol === 'mqtts:'
  return egress.connect(server, { signal, ...(isSecure && { tls: { rejectUnauthorized: true } }) })
}

async function openWebSocketStream(egress: Egress, url: URL, signal: AbortSignal): Promise<Duplex> {
  const socket = openWebSocket(egress, url, {}, ['mqtt'])
  try {
    await once(socket, 'open', { signal })
    return createWebSocketStream(socket)
  } catch (error) {
    socket.on('error', () => {})
    socket.terminate()
    throw error
  }
}
