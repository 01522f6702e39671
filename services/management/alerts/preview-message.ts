import type { AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryPreview } from '@eyrie/contract/management/delivery'
import type {
  ClaimedDelivery,
  DeliveryRequest,
  FiringDetails,
} from '@eyrie/contract/management/delivery-queue'
import { InvalidActionError } from '@eyrie/kit/messages/invalid-action-error'
import { createMessageBody } from '@eyrie/kit/messages/message-body'
import { parseMqttAddress } from '@eyrie/kit/messages/mqtt-address'
import { measureSms, toSmsText } from '@eyrie/kit/messages/sms-text'
import { createWebhookRequest } from '@eyrie/kit/messages/webhook-request'
import { findActionType } from '../deliveries/action-type.ts'
import { findReceiver } from '../deliveries/outbox.ts'
import { createRequest, findUnknownPlaceholders } from './notification-text.ts'

/** The settings of the scheduler on which messages depend. */
export interface MessageSettings {
  /** Address at which people reach the console. */
  publicUrl: string | undefined
  maxSmsSegments: number
}

/** Stands for ids that exist only when a message is sent. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** The part of a preview that depends on the type of the action. */
type Content = Pick<DeliveryPreview, 'method' | 'headers' | 'topic' | 'body' | 'sms'>
const NO_CONTENT: Content = { method: null, headers: null, topic: null, body: null, sms: null }
/** Names of headers whose values may be secrets. */
const SECRET_HEADER = /auth|cookie|key|token|secret|password|signature/i
const REDACTED = '***'

/** Returns the message that an action would send, without secrets, or why it cannot be sent. */
export function createPreview(
  action: AlertAction,
  details: FiringDetails,
  settings: MessageSettings,
  channelId: string | undefined,
): DeliveryPreview {
  const request = createRequest(action, details)
  const delivery = createExampleDelivery(request, channelId ?? NO_ID)
  const { content, problem } = tryToCreateContent(delivery, settings)
  return {
    delivery_type: delivery.type,
    delivery_to: findReceiver(request.action).recipient,
    subject: request.subject,
    message: request.message,
    problem,
    ...content,
    body_bytes: content.body === null ? null : Buffer.byteLength(content.body),
    unknown_placeholders: findUnknownPlaceholders(action, details),
  }
}

/** Creates the first attempt to deliver a notification without a picture. */
const createExampleDelivery = (request: DeliveryRequest, channelId: string): ClaimedDelivery => ({
  delivery_id: NO_ID,
  attempt: 1,
  type: findActionType(request.action),
  kind: 'notification',
  target: '',
  is_test: false,
  channel_id: channelId,
  notification_uuid: NO_ID,
  incident_id: null,
  picture: null,
  request,
  push: null,
  unsubscribe_token: null,
  is_unsubscribed: false,
})

/** Returns the content, or a `problem` if the fields of the action are invalid. */
function tryToCreateContent(
  delivery: ClaimedDelivery,
  settings: MessageSettings,
): { content: Content; problem: string | null } {
  try {
    return { content: createContent(delivery, settings), problem: null }
  } catch (error) {
    if (!(error instanceof InvalidActionError)) throw error
    return { content: NO_CONTENT, problem: error.message }
  }
}

/**
 * Returns what the receiver's server would get. Throws `InvalidActionError` if the fields of
 * the action are invalid.
 */
function createContent(
  delivery: ClaimedDelivery,
  { publicUrl, maxSmsSegments }: MessageSettings,
): Content {
  const { type, request } = delivery
  const context = { publicUrl, picture: undefined, now: new Date() }
  if (type === 'webhook') {
    const { method, headers, body } = createWebhookRequest(delivery, context)
    return { ...NO_CONTENT, method, headers: redactHeaders(headers), body: body ?? null }
  }
  if (type === 'mqtt') {
    const { topic } = parseMqttAddress(request.action)
    return { ...NO_CONTENT, topic, body: createMessageBody(delivery, context).content }
  }
  if (type === 'sms') {
    const body = toSmsText(request.message, maxSmsSegments)
    const completeText = toSmsText(request.message, Number.MAX_SAFE_INTEGER)
    const { encoding, segments } = measureSms(body)
    return { ...NO_CONTENT, body, sms: { encoding, segments, is_shortened: body !== completeText } }
  }
  return NO_CONTENT
}

function redactHeaders(headers: Record<string, string>): Record<string, string> {
  const redacted = { ...headers }
  for (const name of Object.keys(headers)) {
    // The idempotency key is the id of the delivery.
    const isSecret = SECRET_HEADER.test(name) && name !== 'idempotency-key'
    if (isSecret) redacted[name] = REDACTED
  }
  return redacted
}
