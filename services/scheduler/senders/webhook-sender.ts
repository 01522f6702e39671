import { type Egress, EgressDeniedError, fetchFrom } from '@eyrie/kit'
import { type Outcome, quote, type Sender } from './sender.ts'
import { createWebhookRequest, InvalidActionError } from './webhook-request.ts'

/** The receiver has deleted the webhook. */
const GONE = 410
const TOO_MANY_REQUESTS = 429
/** Longest pause that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000
/** Bytes of an answer that are read, to quote it. */
const MAX_ANSWER_BYTES = 2000

/** Calls webhooks. A receiver that answers with a status of success has the message. */
export function createWebhookSender(egress: Egress, publicUrl: string | undefined): Sender {
  return async ({ delivery, signal, readPicture }) => {
    try {
      const hasInlinePicture = delivery.request.action.action_picture === 'inline'
      const picture = hasInlinePicture ? await readPicture() : undefined
      const { url, ...request } = createWebhookRequest(delivery, { publicUrl, picture, now: new Date() })
      const response = await fetchFrom(egress, url, { ...request, signal })
      return toOutcome(response, await readBeginning(response))
    } catch (error) {
      if (error instanceof InvalidActionError || error instanceof EgressDeniedError)
        return { state: 'dead', reason: error.message }
      throw error
    }
  }
}

function toOutcome({ ok, status, headers }: Response, answer: string): Outcome {
  const reason = quote(`${status} ${answer}`)
  if (ok) return { state: 'delivered', reason }
  if (status === GONE) return { state: 'dead', reason }
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'))
  // Other client errors are about this message, or about a configuration that somebody may be correcting.
  const isTargetDown = status >= 500 || status === TOO_MANY_REQUESTS
  return { state: 'failed', reason, isTargetDown, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** Parses the header Retry-After, which has seconds or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/** Returns the beginning of the answer. What follows is not read, so that an endless answer costs nothing. */
async function readBeginning({ body }: Response): Promise<string> {
  if (!body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= MAX_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8')
}
