import type { MiddlewareHandler } from 'hono'

/** A client that is still sending would miss the response, so this much of a rejected body is read and discarded. */
const MAX_DISCARDED_BYTES = 32 << 20

/**
 * Rejects request bodies of more than `maxBytes` with the error of `createError`. A body whose Content-Length is within
 * the limit is passed on unread; any other body is buffered.
 */
export function limitBodySize(maxBytes: number, createError: () => Error): MiddlewareHandler {
  return async (c, next) => {
    const contentLength = c.req.header('Content-Length')
    const isLengthKnown = contentLength !== undefined && c.req.header('Transfer-Encoding') === undefined
    if (isLengthKnown && Number(contentLength) <= maxBytes) return next()
    const { body } = c.req.raw
    if (!body) return next()
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of body) {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else if (size > maxBytes + MAX_DISCARDED_BYTES) break
    }
    if (size > maxBytes) throw createError()
    c.req.raw = new Request(c.req.raw, { body: Buffer.concat(chunks) })
    return next()
  }
}
