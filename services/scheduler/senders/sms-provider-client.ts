import type { SmsSettings } from '@eyrie/contract/management/delivery-settings'
import { type Egress, fetchFrom } from '@eyrie/kit'
import twilio from 'twilio'
import { readBeginning, readRetryAfter } from './http-outcome.ts'
import type { Attempt } from './sender.ts'

/** A message with its receiver. */
export interface Sms {
  from: string
  to: string
  body: string
}

export interface ProviderClient {
  /** Returns the id that the provider assigns. Rejects with an error that has `status` and `code` if the provider refuses. */
  send(sms: Sms): Promise<string | undefined>
  /** The pause for which the last answer asks. */
  readPause(): { retryAfterMs?: number }
}

/** Answers are small objects. */
const MAX_ANSWER_BYTES = 64 << 10

/** Creates a client of Twilio whose requests go through the egress to `base`. */
export function createProviderClient(
  egress: Egress,
  base: URL,
  { sms_auth_key, sms_auth_token }: SmsSettings,
  { delivery, signal }: Attempt,
): ProviderClient {
  let headers = new Headers()

  const httpClient = {
    async request({ method, uri, username = '', password = '', data }: HttpRequest) {
      const { pathname, search } = new URL(uri)
      const credentials = Buffer.from(`${username}:${password}`).toString('base64')
      const response = await fetchFrom(
        egress,
        new URL(base.pathname.replace(/\/+$/, '') + pathname + search, base),
        {
          method: method.toUpperCase(),
          headers: {
            'user-agent': 'Eyrie',
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'application/json',
            authorization: `Basic ${credentials}`,
            // Twilio ignores it; a gateway with the same interface may honour it.
            'idempotency-key': delivery.delivery_id,
          },
          body: new URLSearchParams(data).toString(),
          signal,
        },
      )
      headers = response.headers
      const text = await readBeginning(response, MAX_ANSWER_BYTES)
      return { statusCode: response.status, body: parseAnswer(text, response.status), headers: {} }
    },
  }

  const client = twilio(sms_auth_key, sms_auth_token, {
    // The library uses this function only.
    httpClient: httpClient as unknown as InstanceType<typeof twilio.RequestClient>,
  })
  return {
    async send({ from, to, body }) {
      // A messaging service has several numbers, of which it chooses the sender.
      const sender = from.startsWith('MG') ? { messagingServiceSid: from } : { from }
      const { sid } = await client.messages.create({ ...sender, to, body })
      return sid
    },
    readPause: () => readRetryAfter(headers),
  }
}

interface HttpRequest {
  method: string
  uri: string
  username?: string
  password?: string
  data?: Record<string, string>
}

/** The library expects an object. Proxies answer with pages. */
function parseAnswer(text: string, status: number): object {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null) return answer
  } catch {
    // Not JSON.
  }
  return { message: text || `status ${status}` }
}
