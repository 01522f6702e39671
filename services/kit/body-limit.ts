import type { MiddlewareHandler } from 'hono'

/** Read and thrown away of a body that is refused: whoever is still sending would lose the answer otherwise. */
const MOST_DISCARDED_BYTES = 32 << 20

/**
 * Refuses bodies of more than `most` bytes with what `tooLarge` makes. A body whose length is told is left unread, so
 * that the server can take what an early answer leaves of it off the connection, which then serves the next request.
 */
export function limitBodySize(most: number, tooLarge: () => Error): MiddlewareHandler {
  return async (c, next) => {
    const length = c.req.header('Content-Length')
    const isTold = length !== undefined && c.req.header('Transfer-Encoding') === undefined
    if (isTold && Number(length) <= most) return next()
    const { body } = c.req.raw
    if (!body) return next()
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of body) {
      size += chunk.length
      if (size <= most) chunks.push(chunk)
      else if (size > most + MOST_DISCARDED_BYTES) break
    }
    if (size > most) throw tooLarge()
    c.req.raw = new Request(c.req.raw, { body: Buffer.concat(chunks) })
    return next()
  }
}
