import type { SmsSettings } from '@eyrie/contract/management/delivery-settings'
import { type Egress, EgressDeniedError } from '@eyrie/kit'
import { measureSms, toSmsText } from '@eyrie/kit/messages/sms-text'
import { isServerDown } from './http-outcome.ts'
import { type Attempt, type Outcome, quote, type Sender } from './sender.ts'
import type { ProviderClient } from './sms-provider-client.ts'

const TWILIO_URL = 'https://api.twilio.com'
const BAD_REQUEST = 400

const NO_PROVIDER =
  'no SMS provider is configured: ask a superadmin to set sms_auth_key and sms_auth_token (/config/sms/update)'
const NO_SENDER = 'the SMS has no sender: ask a superadmin to set sms_from (/config/sms/update)'
const NO_RECEIVER = 'the SMS has no receiver: set action_to of the alert, or sms_to of the settings'
const INVALID_PROVIDER =
  'sms_provider must be twilio, or the address of a server with the interface of Twilio'
const INVALID_KEY = 'sms_auth_key must be an Account SID, which begins with AC'
const INVALID_ANSWER = 'the answer of the SMS provider names no message'

/** Sends SMS by Twilio, or by a server with the same interface. `maxSegments`: longer texts are shortened. */
export function createSmsSender(egress: Egress, maxSegments: number): Sender {
  return async attempt => {
    const { delivery, settings } = attempt
    const problem = findProblem(settings.sms)
    if (problem !== undefined) return { state: 'failed', reason: problem, isTargetDown: true }
    const sms = settings.sms!
    const to = delivery.request.action.action_to || sms.sms_to
    if (to === '') return { state: 'dead', reason: NO_RECEIVER }
    const { createProviderClient } = await import('./sms-provider-client.ts')
    const client = createProviderClient(egress, parseProviderUrl(sms.sms_provider)!, sms, attempt)
    return send(attempt, client, { from: sms.sms_from, to, maxSegments })
  }
}

/** Returns what a superadmin has to correct before any SMS can be sent. */
function findProblem(sms: SmsSettings | null): string | undefined {
  if (!sms || sms.sms_auth_key === '' || sms.sms_auth_token === '') return NO_PROVIDER
  if (sms.sms_from === '') return NO_SENDER
  if (!parseProviderUrl(sms.sms_provider)) return INVALID_PROVIDER
  return sms.sms_auth_key.startsWith('AC') ? undefined : INVALID_KEY
}

function parseProviderUrl(provider: string): URL | undefined {
  if (provider === '' || /^twilio$/i.test(provider)) return new URL(TWILIO_URL)
  const url = URL.parse(provider)
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}

interface Envelope {
  from: string
  to: string
  maxSegments: number
}

async function send(
  { delivery }: Attempt,
  client: ProviderClient,
  { from, to, maxSegments }: Envelope,
): Promise<Outcome> {
  const body = toSmsText(delivery.request.message, maxSegments)
  try {
    const id = await client.send({ from, to, body })
    if (id === undefined) return { state: 'failed', reason: INVALID_ANSWER, isTargetDown: true }
    const { segments, encoding } = measureSms(body)
    return { state: 'sent', reason: quote(`${id}, ${segments} × ${encoding}`) }
  } catch (error) {
    if (error instanceof EgressDeniedError) return { state: 'dead', reason: error.message }
    const { status, code, message } = error as Error & { status?: number; code?: number | string }
    if (status === undefined) throw error
    const reason = quote(`${status} ${code === undefined ? '' : `${code}: `}${message}`)
    // About the receiver or the text: another attempt would be answered in the same way.
    if (status === BAD_REQUEST) return { state: 'dead', reason }
    const isRefused = status === 401 || status === 403 || status === 404
    return { state: 'failed', reason, isTargetDown: isServerDown(status) || isRefused, ...client.readPause() }
  }
}
