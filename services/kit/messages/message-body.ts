import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'

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
  const {
    action_payload: actionPayload = '',
    action_is_auto_payload: actionIsAutoPayload = false,
  } = delivery.request.action
  if (actionPayload === '' || actionIsAutoPayload) {
    return {
      content: JSON.stringify(createCloudEvent(delivery, context)),
      type: 'application/cloudevents+json',
    }
  }
  const isJson = /^\s*[[{]/.test(actionPayload)
  return { content: actionPayload, type: isJson ? 'application/json' : 'text/plain; charset=utf-8' }
}

/** The standard payload (CloudEvents 1.0, structured mode). */
function createCloudEvent(delivery: ClaimedDelivery, { publicUrl, picture }: BodyContext) {
  const base = publicUrl?.replace(/\/+$/, '') ?? ''
  return delivery.request.system_alerts
    ? createSystemAlertEvent(delivery, base)
    : createNotificationEvent(delivery, base, picture)
}

function createSystemAlertEvent(
  { delivery_id: deliveryId, request }: ClaimedDelivery,
  base: string,
) {
  const { subject, message, details, system_alerts } = request
  return {
    specversion: '1.0',
    id: deliveryId,
    source: `${base}/system-alerts`,
    type: 'eyrie.system-alert',
    time: details.time,
    subject,
    datacontenttype: 'application/json',
    data: { subject, message, system_alerts },
  }
}

function createNotificationEvent(
  delivery: ClaimedDelivery,
  base: string,
  picture: Buffer | undefined,
) {
  const {
    delivery_id: deliveryId,
    channel_id: channelId,
    notification_uuid: notificationUuid,
    is_test: isTest,
    request,
  } = delivery
  const { subject, message, details, action } = request
  return {
    specversion: '1.0',
    id: deliveryId,
    source: `${base}/channels/${channelId}`,
    type: isTest ? 'eyrie.test' : 'eyrie.notification',
    time: details.time,
    subject: details.alert_name,
    datacontenttype: 'application/json',
    data: {
      ...details,
      channel_id: channelId,
      notification_uuid: notificationUuid,
      subject,
      message,
      ...(action.action_external_link && { link: action.action_external_link }),
      ...createPictureFields(delivery, base, picture),
    },
  }
}

/** Returns the picture itself, a link to it, or nothing, as the action requires. */
function createPictureFields(delivery: ClaimedDelivery, base: string, picture: Buffer | undefined) {
  const { channel_id: channelId, notification_uuid: notificationUuid, request } = delivery
  const mode = request.action.action_picture ?? 'link'
  if (mode === 'inline') return { image: picture?.toString('base64') ?? null }
  if (
    mode === 'none' ||
    delivery.picture === null ||
    notificationUuid === null ||
    channelId === null
  ) {
    return {}
  }
  const query = new URLSearchParams({ channel_id: channelId, notification_uuid: notificationUuid })
  return { image_url: `${base}/api/v1/notification/image?${query}` }
}
