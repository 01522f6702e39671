import type { AlertAction } from '@eyrie/contract/management/alert'
import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import { createWebhookHeaders, isSigningSecret } from './webhook-signature.ts'

/** An HTTP request that calls a webhook. */
export interface WebhookRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | undefined
}

/** The action cannot be carried out as it is configured. The message says what to change. */
export class InvalidActionError extends Error {
  override readonly name = 'InvalidActionError'
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Headers that the connection sets. */
const RESERVED_HEADERS = ['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade']

export interface WebhookContext {
  /** Address at which people reach the console. */
  publicUrl: string | undefined
  now: Date
  picture: Buffer | undefined
}

/** Creates the request of a webhook. Throws `InvalidActionError` if the action is configured wrongly. */
export function createWebhookRequest(delivery: ClaimedDelivery, context: WebhookContext): WebhookRequest {
  const { action } = delivery.request
  const method = (action.action_method || 'POST').toUpperCase()
  if (!METHODS.includes(method))
    throw new InvalidActionError(`action_method is ${method}: use one of ${METHODS.join(', ')}`)

  const body = method === 'GET' ? undefined : createBody(delivery, context)
  const token = action.action_access_token ?? ''
  const secret = isSigningSecret(token) ? token : undefined
  return {
    url: createUrl(action),
    method,
    body: body?.content,
    headers: {
      'user-agent': 'Eyrie',
      ...(body && { 'content-type': body.type }),
      ...createAuthorization(action),
      ...parseHeaders(action.action_header ?? ''),
      // Last, so that no header of the action can replace them.
      ...createWebhookHeaders(delivery.delivery_id, body?.content, secret, context.now),
    },
  }
}

function createUrl({ action_url = '', action_query = '', action_is_secure = true }: AlertAction): URL {
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(action_url)
  const url = URL.parse(hasScheme ? action_url : `${action_is_secure ? 'https' : 'http'}://${action_url}`)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidActionError('action_url is not the address of a web server: use https://host/path')
  for (const [name, value] of new URLSearchParams(action_query)) url.searchParams.append(name, value)
  return url
}

/** Returns the header by which the receiver recognizes the appliance. */
function createAuthorization(action: AlertAction): Record<string, string> {
  const { action_auth_header = '', action_access_id = '', action_access_token = '' } = action
  if (action_auth_header.includes(':')) return parseHeaders(action_auth_header)
  if (action_auth_header) return { authorization: action_auth_header }
  if (action_access_id) {
    const credentials = Buffer.from(`${action_access_id}:${action_access_token}`).toString('base64')
    return { authorization: `Basic ${credentials}` }
  }
  if (!action_access_token || isSigningSecret(action_access_token)) return {}
  return { authorization: `Bearer ${action_access_token}` }
}

/** Parses headers, one per line. Names become lower-case. */
function parseHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of text.split(/\r?\n/).filter(line => line.trim() !== '')) {
    const [, name = '', value = ''] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
    const key = name.toLowerCase()
    if (key === '' || /[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new InvalidActionError('action_header has a line that is not a header: use Name: value')
    if (RESERVED_HEADERS.includes(key))
      throw new InvalidActionError(`action_header must not set ${key}: the connection does`)
    headers[key] = value
  }
  return headers
}

interface Body {
  content: string
  type: string
}

function createBody(delivery: ClaimedDelivery, context: WebhookContext): Body {
  const { action_payload = '', action_is_auto_payload = false } = delivery.request.action
  if (action_payload === '' || action_is_auto_payload)
    return {
      content: JSON.stringify(createCloudEvent(delivery, context)),
      type: 'application/cloudevents+json',
    }
  const isJson = /^\s*[[{]/.test(action_payload)
  return { content: action_payload, type: isJson ? 'application/json' : 'text/plain; charset=utf-8' }
}

/** The standard payload (CloudEvents 1.0, structured mode). */
function createCloudEvent(delivery: ClaimedDelivery, { publicUrl, picture }: WebhookContext) {
  const { delivery_id, channel_id, notification_uuid, is_test, request } = delivery
  const { subject, message, details, action } = request
  const base = publicUrl?.replace(/\/+$/, '') ?? ''
  return {
    specversion: '1.0',
    id: delivery_id,
    source: `${base}/channels/${channel_id}`,
    type: is_test ? 'eyrie.test' : 'eyrie.notification',
    time: details.time,
    subject: details.alert_name,
    datacontenttype: 'application/json',
    data: {
      ...details,
      channel_id,
      notification_uuid,
      subject,
      message,
      ...(action.action_external_link && { link: action.action_external_link }),
      ...createPictureFields(delivery, base, picture),
    },
  }
}

function createPictureFields(delivery: ClaimedDelivery, base: string, picture: Buffer | undefined) {
  const { channel_id, notification_uuid, request } = delivery
  const mode = request.action.action_picture ?? 'link'
  if (mode === 'inline') return { image: picture?.toString('base64') ?? null }
  if (mode === 'none' || delivery.picture === null || notification_uuid === null) return {}
  const query = new URLSearchParams({ channel_id, notification_uuid })
  return { image_url: `${base}/api/v1/notification/image?${query}` }
}
