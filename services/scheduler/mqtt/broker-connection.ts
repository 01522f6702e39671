import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { type Egress, openWebSocket, unlessAborted } from '@eyrie/kit'
import { createWebSocketStream } from 'ws'
import { type OpenMqttClient, openMqttClient } from './open-mqtt-client.ts'

const CONNECT_TIMEOUT_MS = 10_000
const KEEPALIVE_S = 30
/** Time within which the broker must confirm a message. */
const ANSWER_TIMEOUT_MS = 20_000
const NO_CONFIRMATION = 'the broker does not confirm messages'
const DEFAULT_PORTS: Record<string, number> = { 'mqtt:': 1883, 'mqtts:': 8883 }

/** A message that the broker publishes when the connection is lost. */
export interface LastWill {
  topic: string
  payload: string
}

/** An open connection to an MQTT broker. It is not restored when it is lost. */
export interface BrokerConnection {
  /** Resolves when the broker has confirmed the message. */
  publish(topic: string, payload: string | Buffer, options: { retain: boolean }): Promise<void>
  /**
   * Subscribes to topics. `onMessage` is called for each of their messages. Resolves when the
   * broker has confirmed.
   */
  subscribe(topics: string[], onMessage: (topic: string, payload: Buffer) => void): Promise<void>
  /** Aborted with the error when the connection is lost. */
  readonly lost: AbortSignal
  /** Closes the connection, so that the broker does not publish the last will. */
  close(): Promise<void>
}

/**
 * Connects to the broker of the settings. Rejects with `EgressDeniedError`, or with the
 * error of the connection.
 */
export async function connectToBroker(
  egress: Egress,
  settings: MqttSettings,
  will: LastWill,
  stopping: AbortSignal,
): Promise<BrokerConnection> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
  const openStream = () => openBrokerStream(egress, new URL(settings.mqtt_url), signal)
  const options = {
    ...(settings.mqtt_username !== '' && { username: settings.mqtt_username }),
    ...(settings.mqtt_password !== '' && { password: settings.mqtt_password }),
    will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true },
    keepalive: KEEPALIVE_S,
    connectTimeout: CONNECT_TIMEOUT_MS,
  } as const
  return createConnection(await openMqttClient(openStream, options, signal))
}

function createConnection({ client, lost }: OpenMqttClient): BrokerConnection {
  /** Waits for the broker's answer. Without an answer in time, the connection counts as lost. */
  async function waitForAnswer<T>(answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => lost.abort(new Error(NO_CONFIRMATION)), ANSWER_TIMEOUT_MS)
    try {
      return await unlessAborted(answer, lost.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    lost: lost.signal,
    async publish(topic, payload, { retain }) {
      await waitForAnswer(client.publishAsync(topic, payload, { qos: 1, retain }))
    },
    async subscribe(topics, onMessage) {
      client.on('message', onMessage)
      await waitForAnswer(client.subscribeAsync(topics, { qos: 0 }))
    },
    async close() {
      if (lost.signal.aborted) client.end(true)
      else await waitForAnswer(client.endAsync())
    },
  }
}

/** Opens a stream to the broker: TCP, TLS or a WebSocket, by the scheme of the address. */
async function openBrokerStream(egress: Egress, url: URL, signal: AbortSignal): Promise<Duplex> {
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined) return openWebSocketStream(egress, url, signal)

  const isSecure = url.protocol === 'mqtts:'
  const hostWithoutBrackets = url.hostname.replace(/^\[|\]$/g, '')
  const server = { host: hostWithoutBrackets, port: Number(url.port) || defaultPort }
  return egress.connect(server, { signal, ...(isSecure && { tls: { rejectUnauthorized: true } }) })
}

async function openWebSocketStream(egress: Egress, url: URL, signal: AbortSignal): Promise<Duplex> {
  const socket = openWebSocket(egress, url, {}, ['mqtt'])
  try {
    await once(socket, 'open', { signal })
    return createWebSocketStream(socket)
  } catch (error) {
    // Terminating a socket that is still connecting emits an error, which would end the
    // process without a listener.
    socket.on('error', () => {})
    socket.terminate()
    throw error
  }
}
