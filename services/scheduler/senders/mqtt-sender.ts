import { type Egress, EgressDeniedError, unlessAborted } from '@eyrie/kit'
import { InvalidActionError } from '@eyrie/kit/messages/invalid-action-error'
import { createMessageBody, type MessageBody } from '@eyrie/kit/messages/message-body'
import { type MqttAddress, parseMqttAddress } from '@eyrie/kit/messages/mqtt-address'
import { openMqttClient } from '../mqtt/open-mqtt-client.ts'
import { type Attempt, type Outcome, quote, type Sender } from './sender.ts'

// Codes of a broker's answer (MQTT 5.0, section 2.4; MQTT 3.1.1, section 3.2.2.3).
const UNSUPPORTED_VERSION_CODES = [1, 132]
const NO_MATCHING_SUBSCRIBERS = 16
/**
 * The broker is unavailable, busy or shutting down, or gets too many messages or connections. Other
 * codes concern the user or this message.
 */
const OVERLOADED_CODES = [3, 136, 137, 139, 150, 151, 159]

/** Versions of MQTT, as the protocol numbers them. */
const MQTT_5 = 5
const MQTT_3_1_1 = 4

/**
 * The longest time of a timer. It disables the timeout of the library, because the signal of an
 * attempt limits its time.
 */
const NO_TIMEOUT_MS = 2 ** 31 - 1

/**
 * An error of the MQTT library. `code` is a number if the broker has refused the connection or the
 * message, otherwise a text.
 */
interface MqttError extends Error {
  code?: number | string
}

/**
 * Creates a sender that publishes messages to the MQTT broker of an action, with QoS 1: the broker
 * confirms each message. Uses MQTT 5, in which a message has its id as a property, or MQTT 3.1.1
 * for a broker without MQTT 5.
 */
export function createMqttSender(egress: Egress, publicUrl: string | undefined): Sender {
  return async attempt => {
    const { delivery, readPicture } = attempt
    const { action } = delivery.request
    try {
      const address = parseMqttAddress(action)
      const picture = action.action_picture === 'inline' ? await readPicture() : undefined
      const body = createMessageBody(delivery, { publicUrl, picture })
      const publishWith = (protocolVersion: ProtocolVersion) =>
        publish(attempt, { address, body, egress, protocolVersion })

      return await publishWith(MQTT_5).catch(error => {
        if (!UNSUPPORTED_VERSION_CODES.includes(Number(error.code))) throw error
        return publishWith(MQTT_3_1_1)
      })
    } catch (error) {
      if (error instanceof InvalidActionError || error instanceof EgressDeniedError) {
        return { state: 'dead', reason: error.message }
      }

      const { code, message } = error as MqttError
      if (typeof code !== 'number') throw error
      const reason = quote(`${code} ${message}`)
      return { state: 'failed', reason, isTargetDown: OVERLOADED_CODES.includes(code) }
    }
  }
}

type ProtocolVersion = typeof MQTT_5 | typeof MQTT_3_1_1

interface PublishOptions {
  address: MqttAddress
  body: MessageBody
  egress: Egress
  protocolVersion: ProtocolVersion
}

/**
 * Publishes with one version of the protocol. Resolves when the broker has confirmed the message.
 */
async function publish(
  { delivery, signal }: Attempt,
  { address, body, egress, protocolVersion }: PublishOptions,
): Promise<Outcome> {
  const { host, port, isSecure, username, password, topic } = address
  const tls = isSecure ? { tls: { rejectUnauthorized: true } } : {}
  const openStream = () => egress.connect({ host, port }, { signal, ...tls })
  const login = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  }
  const options = { ...login, protocolVersion, connectTimeout: NO_TIMEOUT_MS }
  const { client, lost } = await openMqttClient(openStream, options, signal)

  try {
    const properties = { contentType: body.type, userProperties: { id: delivery.delivery_id } }
    const confirmation = client.publishAsync(topic, body.content, {
      qos: 1,
      ...(protocolVersion === MQTT_5 && { properties }),
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
