import type { AlertAction } from '@eyrie/contract/management/alert'
import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import { InvalidActionError } from './invalid-action-error.ts'
import { type BodyContext, createMessageBody } from './message-body.ts'
import { createWebhookHeaders, isSigningSecret } from './webhook-signature.ts'

/** An HTTP request that calls a webhook. */
export interface WebhookRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | undefined
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Headers that the connection sets. */
const RESERVED_HEADERS = ['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade']
/** The name and the value of a header (RFC 9110, section 5). */
const HEADER_LINE = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*?)\s*$/
/** ASCII control characters other than a tab, and characters that do not fit in a byte. */
const INVALID_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/

export interface WebhookContext extends BodyContext {
  now: Date
}

/**
 * Creates the request of a webhook. Throws `InvalidActionError` if the action is configured
 * wrongly.
 */
export function createWebhookRequest(
  delivery: ClaimedDelivery,
  context: WebhookContext,
): WebhookRequest {
  const { action } = delivery.request
  const method = (action.action_method || 'POST').toUpperCase()
  if (!METHODS.includes(method)) {
    throw new InvalidActionError(`action_method is ${method}: use one of ${METHODS.join(', ')}`)
  }

  const body = method === 'GET' ? undefined : createMessageBody(delivery, context)
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
      ...parseHeaders('action_header', action.action_header ?? ''),
      // Last, so that no header of the action can replace them.
      ...createWebhookHeaders(delivery.delivery_id, body?.content, secret, context.now),
    },
  }
}

function createUrl(action: AlertAction): URL {
  const { action_url = '', action_query = '', action_is_secure = true } = action
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(action_url)
  const scheme = action_is_secure ? 'https' : 'http'
  const url = URL.parse(hasScheme ? action_url : `${scheme}://${action_url}`)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidActionError(
      'action_url is not the address of a web server: use https://host/path',
    )
  }
  const parameters = new URLSearchParams(action_query)
  for (const [name, value] of parameters) url.searchParams.append(name, value)
  return url
}

/** Returns the headers by which the receiver recognizes the appliance. */
function createAuthorization(action: AlertAction): Record<string, string> {
  const { action_auth_header = '', action_access_id = '', action_access_token = '' } = action
  if (action_auth_header) return parseAuthHeader(action_auth_header)
  if (action_access_id) {
    const credentials = Buffer.from(`${action_access_id}:${action_access_token}`)
    return { authorization: `Basic ${credentials.toString('base64')}` }
  }
  // A signing secret is never sent.
  if (!action_access_token || isSigningSecret(action_access_token)) return {}
  return { authorization: `Bearer ${action_access_token}` }
}

/** Parses either headers with their names, or only the value of Authorization. */
function parseAuthHeader(text: string): Record<string, string> {
  const [firstLine = ''] = text.trim().split('\n')
  if (HEADER_LINE.test(firstLine)) return parseHeaders('action_auth_header', text)
  if (INVALID_IN_VALUE.test(text)) throw createHeaderError('action_auth_header')
  return { authorization: text }
}

/** Parses the headers in a field, one per line. Names become lower-case. */
function parseHeaders(field: string, text: string): Record<string, string> {
  const headers: Record<string, string> = {}
  const lines = text.split(/\r?\n/).filter(line => line.trim() !== '')
  for (const line of lines) {
    const [, originalName = '', value = ''] = HEADER_LINE.exec(line) ?? []
    const name = originalName.toLowerCase()
    if (name === '' || INVALID_IN_VALUE.test(value)) throw createHeaderError(field)
    if (RESERVED_HEADERS.includes(name)) {
      throw new InvalidActionError(`${field} must not set ${name}: the connection does`)
    }
    headers[name] = value
  }
  return headers
}

const createHeaderError = (field: string) =>
  new InvalidActionError(`${field} has a line that is not a header: use Name: value`)
