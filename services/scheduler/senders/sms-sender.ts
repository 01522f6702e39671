import type { SmsSettings } from '@eyrie/contract/management/delivery-settings'
import { type Egress, EgressDeniedError } from '@eyrie/kit'
import { measureSms, toSmsText } from '@eyrie/kit/messages/sms-text'
import { isServerDown } from './http-outcome.ts'
import { type Attempt, createNotConfigured, type Outcome, quote, type Sender } from './sender.ts'
import type { ProviderClient, ProviderError, Sms } from './sms-provider-client.ts'

const TWILIO_URL = 'https://api.twilio.com'
const BAD_REQUEST = 400
/** The provider rejects the account: unauthorized, forbidden, or not found. */
const ACCOUNT_REJECTED = [401, 403, 404]

const NO_PROVIDER =
  'no SMS provider is configured: ask a superadmin to set sms_auth_key and sms_auth_token (/config/sms/update)'
const NO_SENDER = 'the SMS has no sender: ask a superadmin to set sms_from (/config/sms/update)'
const NO_RECEIVER = 'the SMS has no receiver: set action_to of the alert, or sms_to of the settings'
const INVALID_PROVIDER =
  'sms_provider must be twilio, or the address of a server with the interface of Twilio'
const INVALID_KEY = 'sms_auth_key must be an Account SID, which begins with AC'
const NO_MESSAGE_ID = 'the SMS provider has answered without the id of a message'

/**
 * Creates a sender of SMS by Twilio, or by a server with the same interface. A text that needs more
 * than `maxSegments` messages is shortened.
 */
export function createSmsSender(egress: Egress, maxSegments: number): Sender {
  return async attempt => {
    const route = findRoute(attempt)
    if ('state' in route) return route

    const { settings, baseUrl, to } = route
    const { createProviderClient } = await import('./sms-provider-client.ts')
    const client = createProviderClient({ egress, baseUrl, settings, attempt })
    const body = toSmsText(attempt.delivery.request.message, maxSegments)
    return send(client, { from: settings.sms_from, to, body })
  }
}

/** The provider and the receiver of an SMS. */
interface Route {
  settings: SmsSettings
  /** Address of the provider's API. */
  baseUrl: URL
  to: string
}

/** Returns the route of an SMS, or the outcome of an SMS that cannot be sent. */
function findRoute({ settings, delivery }: Attempt): Route | Outcome {
  const { sms } = settings
  if (!sms || sms.sms_auth_key === '' || sms.sms_auth_token === '') {
    return createNotConfigured(NO_PROVIDER)
  }
  if (sms.sms_from === '') return createNotConfigured(NO_SENDER)
  const baseUrl = parseProviderUrl(sms.sms_provider)
  if (!baseUrl) return createNotConfigured(INVALID_PROVIDER)
  if (!sms.sms_auth_key.startsWith('AC')) return createNotConfigured(INVALID_KEY)
  const to = delivery.request.action.action_to || sms.sms_to
  if (to === '') return { state: 'dead', reason: NO_RECEIVER }
  return { settings: sms, baseUrl, to }
}

/** Returns the address of the provider's API. Undefined if the setting is invalid. */
function parseProviderUrl(provider: string): URL | undefined {
  if (provider === '' || /^twilio$/i.test(provider)) return new URL(TWILIO_URL)
  const url = URL.parse(provider)
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}

async function send(client: ProviderClient, sms: Sms): Promise<Outcome> {
  try {
    const id = await client.send(sms)
    if (id === undefined) return { state: 'failed', reason: NO_MESSAGE_ID, isTargetDown: true }
    const { segments, encoding } = measureSms(sms.body)
    return { state: 'sent', reason: quote(`${id}, ${segments} × ${encoding}`) }
  } catch (error) {
    if (error instanceof EgressDeniedError) return { state: 'dead', reason: error.message }
    return explainRefusal(error as ProviderError, client)
  }
}

/**
 * Converts the provider's answer to an outcome. Throws an error that is not an answer, such as
 * that of the connection.
 */
function explainRefusal(error: ProviderError, client: ProviderClient): Outcome {
  const { status, code, message } = error
  if (status === undefined) throw error

  const codePrefix = code === undefined ? '' : `${code}: `
  const reason = quote(`${status} ${codePrefix}${message}`)
  // A bad request concerns the receiver or the text, so another attempt would be refused as well.
  if (status === BAD_REQUEST) return { state: 'dead', reason }

  const isTargetDown = isServerDown(status) || ACCOUNT_REJECTED.includes(status)
  return { state: 'failed', reason, isTargetDown, ...client.getRetryAfter() }
}
