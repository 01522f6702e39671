// Functions that convert HTTP responses to outcomes, for all senders that use HTTP.

export const TOO_MANY_REQUESTS = 429
/** Maximum pause that a receiver can request. */
const MAX_RETRY_AFTER_MS = 3_600_000
/** Number of bytes of an answer that are read, to quote it. */
const MAX_ANSWER_BYTES = 2000

/** Whether other messages to the server would fail with this status as well. */
export const isServerDown = (status: number): boolean =>
  status >= 500 || status === TOO_MANY_REQUESTS

/** Returns the pause that a receiver requests, as a field of the outcome. */
export function readRetryAfter(headers: Headers): { retryAfterMs?: number } {
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'))
  return retryAfterMs === undefined ? {} : { retryAfterMs }
}

/** Parses the header Retry-After, which has seconds or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/**
 * Returns the beginning of the answer as text. The rest is not read, so that an endless
 * answer does no harm.
 */
export async function readBeginning(
  { body }: Response,
  maxBytes = MAX_ANSWER_BYTES,
): Promise<string> {
  if (!body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8')
}
