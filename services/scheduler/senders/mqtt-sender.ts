import { type Egress, EgressDeniedError, unlessAborted } from '@eyrie/kit'
import { InvalidActionError } from '@eyrie/kit/messages/invalid-action-error'
import { createMessageBody, type MessageBody } from '@eyrie/kit/messages/message-body'
import { type MqttAddress, parseMqttAddress } from '@eyrie/kit/messages/mqtt-address'
import { openMqttClient } from '../mqtt/open-mqtt-client.ts'
import { type Attempt, type Outcome, quote, type Sender } from './sender.ts'

// Codes of a broker's answer (MQTT 5.0, section 2.4; MQTT 3.1.1, section 3.2.2.3).
const UNSUPPORTED_VERSION = [1, 132]
const NO_MATCHING_SUBSCRIBERS = 16
/** Unavailable, busy, shutting down, too many messages or connections. All other codes concern the user or this message. */
const OVERLOADED = [3, 136, 137, 139, 150, 151, 159]

/** The attempt is limited by its signal, so the timeout of the library is set to the maximum of a timer. */
const NO_TIMEOUT_MS = 2 ** 31 - 1

/** The error of a broker that has refused the connection or the message has a numeric code. Errors of the network have a text. */
interface MqttError extends Error {
  code?: number | string
}

/**
 * Creates a sender that publishes messages to the MQTT broker of an action, with QoS 1: the broker confirms each message. Uses MQTT 5,
 * in which a message has its id as a property, or MQTT 3.1.1 for a broker without MQTT 5.
 */
export function createMqttSender(egress: Egress, publicUrl: string | undefined): Sender {
  return async attempt => {
    const { delivery, readPicture } = attempt
    const { action } = delivery.request
    try {
      const address = parseMqttAddress(action)
      const picture = action.action_picture === 'inline' ? await readPicture() : undefined
      const body = createMessageBody(delivery, { publicUrl, picture })
      return await publish(attempt, address, body, egress, 5).catch(error => {
        if (!UNSUPPORTED_VERSION.includes(Number(error.code))) throw error
        return publish(attempt, address, body, egress, 4)
      })
    } catch (error) {
      if (error instanceof InvalidActionError || error instanceof EgressDeniedError)
        return { state: 'dead', reason: error.message }

      const { code, message } = error as MqttError
      if (typeof code !== 'number') throw error
      return { state: 'failed', reason: quote(`${code} ${message}`), isTargetDown: OVERLOADED.includes(code) }
    }
  }
}

/** Publishes with version 5 or 3.1.1 of the protocol, which has the number 4. */
async function publish(
  { delivery, signal }: Attempt,
  { host, port, isSecure, username, password, topic }: MqttAddress,
  body: MessageBody,
  egress: Egress,
  protocolVersion: 4 | 5,
): Promise<Outcome> {
  const tls = isSecure ? { tls: { rejectUnauthorized: true } } : {}
  const openStream = () => egress.connect({ host, port }, { signal, ...tls })
  const login = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
  const options = { ...login, protocolVersion, connectTimeout: NO_TIMEOUT_MS }
  const { client, lost } = await openMqttClient(openStream, options, signal)

  try {
    const properties = { contentType: body.type, userProperties: { id: delivery.delivery_id } }
    const confirmation = client.publishAsync(topic, body.content, {
      qos: 1,
      ...(protocolVersion === 5 && { properties }),
    })
    const packet = await unlessAborted(confirmation, AbortSignal.any([signal, lost.signal]))
    return { state: 'sent', reason: describeConfirmation(packet) }
  } finally {
    client.end(true)
  }
}

/** MQTT 5 reports whether a subscriber exists, which the type of the packet does not declare. */
function describeConfirmation(packet: object | undefined): string {
  const { reasonCode } = (packet ?? {}) as { reasonCode?: number }
  const hasSubscriber = reasonCode !== NO_MATCHING_SUBSCRIBERS
  return hasSubscriber ? 'confirmed by the broker' : 'confirmed by the broker, without a subscriber'
}
