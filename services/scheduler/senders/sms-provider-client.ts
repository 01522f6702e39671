import type { SmsSettings } from '@eyrie/contract/management/delivery-settings'
import { type Egress, fetchFrom } from '@eyrie/kit'
import twilio from 'twilio'
import { readBeginning, readRetryAfter } from './http-outcome.ts'
import type { Attempt } from './sender.ts'

/** A text message. */
export interface Sms {
  from: string
  to: string
  body: string
}

/** A client of the API of Twilio, for one attempt to send a message. */
export interface ProviderClient {
  /**
   * Returns the id that the provider assigns. Undefined if its answer has none. Rejects with
   * `ProviderError` if it refuses.
   */
  send(sms: Sms): Promise<string | undefined>
  /** Returns the pause that the last answer has requested, as a field of the outcome. */
  getRetryAfter(): { retryAfterMs?: number }
}

/** The provider's refusal. Errors of the connection have no `status`. */
export interface ProviderError extends Error {
  /** HTTP status. */
  status?: number
  /** Error code of Twilio. */
  code?: number | string
}

/** Limit of an answer, which is usually a small object. */
const MAX_ANSWER_BYTES = 64 << 10

export interface ProviderClientOptions {
  egress: Egress
  /** Address of a server with the interface of Twilio. */
  baseUrl: URL
  settings: SmsSettings
  attempt: Attempt
}

export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const { egress, baseUrl, settings, attempt } = options
  const { delivery, signal } = attempt
  let lastHeaders = new Headers()

  /** Sends a request of the library to the configured server instead of the server in `uri`. */
  async function request({ method, uri, username = '', password = '', data }: HttpRequest) {
    const { pathname, search } = new URL(uri)
    const url = new URL(baseUrl.pathname.replace(/\/+$/, '') + pathname + search, baseUrl)
    const credentials = Buffer.from(`${username}:${password}`).toString('base64')
    const response = await fetchFrom(egress, url, {
      method: method.toUpperCase(),
      headers: {
        'user-agent': 'Eyrie',
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        authorization: `Basic ${credentials}`,
        // Twilio ignores this header, but another server may use it.
        'idempotency-key': delivery.delivery_id,
      },
      body: new URLSearchParams(data).toString(),
      signal,
    })
    lastHeaders = response.headers
    const text = await readBeginning(response, MAX_ANSWER_BYTES)
    return { statusCode: response.status, body: parseAnswer(text, response.status), headers: {} }
  }

  const client = twilio(settings.sms_auth_key, settings.sms_auth_token, {
    // The library calls no other function of its HTTP client.
    httpClient: { request } as unknown as InstanceType<typeof twilio.RequestClient>,
  })

  return {
    async send({ from, to, body }) {
      // The id of a messaging service, which chooses one of its numbers, begins with MG.
      const sender = from.startsWith('MG') ? { messagingServiceSid: from } : { from }
      const { sid } = await client.messages.create({ ...sender, to, body })
      return sid
    },
    getRetryAfter: () => readRetryAfter(lastHeaders),
  }
}

/** A request as the library passes it to its HTTP client. */
interface HttpRequest {
  method: string
  uri: string
  username?: string
  password?: string
  data?: Record<string, string>
}

/**
 * Parses an answer. The library expects an object. A text, such as the error page of a proxy,
 * becomes the `message` of an object.
 */
function parseAnswer(text: string, status: number): object {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null) return answer
  } catch {
    // The answer is not JSON.
  }
  return { message: text || `status ${status}` }
}
