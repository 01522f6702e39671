import { type Egress, EgressDeniedError } from '@eyrie/kit'
import { InvalidActionError } from '@eyrie/kit/messages/invalid-action-error'
import { createMessageBody, type MessageBody } from '@eyrie/kit/messages/message-body'
import { type MqttAddress, parseMqttAddress } from '@eyrie/kit/messages/mqtt-address'
import type { MqttClient } from 'mqtt'
import { type Attempt, type Outcome, quote, type Sender } from './sender.ts'

// Codes with which a broker answers (MQTT 5.0, section 2.4; MQTT 3.1.1, section 3.2.2.3).
const UNSUPPORTED_VERSION = [1, 132]
const NO_MATCHING_SUBSCRIBERS = 16
/** Unavailable, busy, shutting down, too many messages or connections. Other codes are about the user or this message. */
const OVERLOADED = [3, 136, 137, 139, 150, 151, 159]

/** A broker has refused the connection or the message. Errors of the network have a code that is a text. */
interface RefusedError extends Error {
  code?: number | string
}

/** Publishes messages to the MQTT broker of an action, with QoS 1: the broker confirms that it passes them on. */
export function createMqttSender(egress: Egress, publicUrl: string | undefined): Sender {
  return async attempt => {
    const { delivery, readPicture } = attempt
    const { action } = delivery.request
    try {
      const address = parseMqttAddress(action)
      const picture = action.action_picture === 'inline' ? await readPicture() : undefined
      const body = createMessageBody(delivery, { publicUrl, picture })
      return await publishWithKnownVersion(attempt, address, body, egress)
    } catch (error) {
      if (error instanceof InvalidActionError || error instanceof EgressDeniedError)
        return { state: 'dead', reason: error.message }
      const { code, message } = error as RefusedError
      if (typeof code !== 'number') throw error
      return { state: 'failed', reason: quote(`${code} ${message}`), isTargetDown: OVERLOADED.includes(code) }
    }
  }
}

/** Publishes with MQTT 5, in which the message has its id as a property, or else with MQTT 3.1.1. */
async function publishWithKnownVersion(
  attempt: Attempt,
  address: MqttAddress,
  body: MessageBody,
  egress: Egress,
): Promise<Outcome> {
  try {
    return await publish(attempt, address, body, egress, 5)
  } catch (error) {
    if (!UNSUPPORTED_VERSION.includes(Number((error as RefusedError).code))) throw error
    return publish(attempt, address, body, egress, 4)
  }
}

async function publish(
  { delivery, signal }: Attempt,
  address: MqttAddress,
  body: MessageBody,
  egress: Egress,
  protocolVersion: 4 | 5,
): Promise<Outcome> {
  const client = await connectTo(address, egress, signal, protocolVersion)
  try {
    const properties = {
      contentType: body.type,
      userProperties: { id: delivery.delivery_id },
    }
    const confirmation = client.publishAsync(address.topic, body.content, {
      qos: 1,
      ...(protocolVersion === 5 && { properties }),
    })
    const packet = await orClosed(client, confirmation, signal)
    const hasReader = (packet as { reasonCode?: number } | undefined)?.reasonCode !== NO_MATCHING_SUBSCRIBERS
    return { state: 'sent', reason: `confirmed by the broker${hasReader ? '' : ', without a subscriber'}` }
  } finally {
    client.end(true)
  }
}

async function connectTo(
  { host, port, isSecure, username, password }: MqttAddress,
  egress: Egress,
  signal: AbortSignal,
  protocolVersion: 4 | 5,
): Promise<MqttClient> {
  const { MqttClient } = await import('mqtt')
  const tls = isSecure ? { tls: { rejectUnauthorized: true } } : {}
  const socket = await egress.connect({ host, port }, { signal, ...tls })
  const client = new MqttClient(() => socket, {
    protocolVersion,
    clean: true,
    // A connection is one attempt: the dispatcher repeats it.
    reconnectPeriod: 0,
    // The signal limits the time.
    connectTimeout: 2 ** 31 - 1,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  })
  try {
    const connected = new Promise<void>(resolve => client.once('connect', () => resolve()))
    await orClosed(client, connected, signal)
    return client
  } catch (error) {
    client.end(true)
    socket.destroy()
    throw error
  }
}

/** Resolves as `work` does, unless the connection ends before. */
async function orClosed<T>(client: MqttClient, work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  const handleClose = () => reject(new Error('the broker has closed the connection'))
  const handleAbort = () => reject(signal.reason)
  client.on('error', reject).on('close', handleClose)
  signal.addEventListener('abort', handleAbort, { once: true })
  work.catch(() => {})
  failed.catch(() => {})
  try {
    signal.throwIfAborted()
    return await Promise.race([work, failed])
  } finally {
    client.off('close', handleClose)
    signal.removeEventListener('abort', handleAbort)
    // The listener for errors remains: without one, an error after the end would stop the process.
  }
}
