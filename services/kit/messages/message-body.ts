import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'

/** The start of an object or an array. A custom payload that starts like this is sent as JSON. */
const JSON_START = /^\s*[[{]/

/** What a message contains in addition to the delivery. */
export interface BodyContext {
  /** Address at which people reach the console. */
  publicUrl: string | undefined
  /** The picture of the alert as JPEG, if there is one. */
  picture: Buffer | undefined
}

/** The message that a webhook or a broker receives. */
export interface MessageBody {
  content: string
  /** Media type. */
  type: string
}

/**
 * Creates the body of a message: the payload that the action defines, or else the standard payload.
 */
export function createMessageBody(delivery: ClaimedDelivery, context: BodyContext): MessageBody {
  const { action_payload = '', action_is_auto_payload = false } = delivery.request.action
  const isCustom = action_payload !== '' && !action_is_auto_payload
  if (!isCustom) {
    const content = JSON.stringify(createCloudEvent(delivery, context))
    return { content, type: 'application/cloudevents+json' }
  }
  const type = JSON_START.test(action_payload) ? 'application/json' : 'text/plain; charset=utf-8'
  return { content: action_payload, type }
}

/** The fields of the standard payload that depend on the kind of the message. */
interface EventContent {
  source: string
  type: string
  subject: string
  data: object
}

/** Creates the standard payload (CloudEvents 1.0, structured mode). */
function createCloudEvent(delivery: ClaimedDelivery, { publicUrl, picture }: BodyContext): object {
  const baseUrl = publicUrl?.replace(/\/+$/, '') ?? ''
  const { source, type, subject, data } = delivery.request.system_alerts
    ? createSystemAlertContent(delivery, baseUrl)
    : createNotificationContent(delivery, baseUrl, picture)
  return {
    specversion: '1.0',
    id: delivery.delivery_id,
    source,
    type,
    time: delivery.request.details.time,
    subject,
    datacontenttype: 'application/json',
    data,
  }
}

function createSystemAlertContent({ request }: ClaimedDelivery, baseUrl: string): EventContent {
  const { subject, message, system_alerts } = request
  return {
    source: `${baseUrl}/system-alerts`,
    type: 'eyrie.system-alert',
    subject,
    data: { subject, message, system_alerts },
  }
}

function createNotificationContent(
  delivery: ClaimedDelivery,
  baseUrl: string,
  picture: Buffer | undefined,
): EventContent {
  const { channel_id, notification_uuid, is_test, request } = delivery
  const { subject, message, details } = request
  const link = request.action.action_external_link
  return {
    source: `${baseUrl}/channels/${channel_id}`,
    type: is_test ? 'eyrie.test' : 'eyrie.notification',
    subject: details.alert_name,
    data: {
      ...details,
      channel_id,
      notification_uuid,
      subject,
      message,
      ...(link && { link }),
      ...createPictureFields(delivery, baseUrl, picture),
    },
  }
}

/** Returns the picture itself, a link to it, or nothing, as the action requires. */
function createPictureFields(
  delivery: ClaimedDelivery,
  baseUrl: string,
  picture: Buffer | undefined,
): { image: string | null } | { image_url: string } | undefined {
  const mode = delivery.request.action.action_picture ?? 'link'
  if (mode === 'none') return undefined
  if (mode === 'inline') return { image: picture?.toString('base64') ?? null }

  // Only the picture of a notification on a channel has an address in the API.
  const { picture: digest, channel_id, notification_uuid } = delivery
  if (digest === null || channel_id === null || notification_uuid === null) return undefined
  const query = new URLSearchParams({ channel_id, notification_uuid })
  return { image_url: `${baseUrl}/api/v1/notification/image?${query}` }
}
