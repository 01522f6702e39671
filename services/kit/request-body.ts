import { EyrieError } from '@eyrie/contract/errors'
import { formatByteLimit } from '@eyrie/contract/format-bytes'
import { parseAs } from '@eyrie/contract/parse'
import type { Context, MiddlewareHandler } from 'hono'
import type { z } from 'zod'

/**
 * A client reads the response only after it has sent the body. Therefore this much of an
 * oversized body is discarded.
 */
const MAX_DISCARDED_BYTES = 32 << 20

/**
 * Maximum nesting of a JSON body. No valid body is nested deeper, and recursion over one
 * could exhaust the stack.
 */
const MAX_DEPTH = 64

/**
 * Creates a middleware that rejects request bodies of more than `maxBytes` with `size`, as
 * `assertBodySize` does. It comes after the authentication.
 */
export function limitBodySize(maxBytes: number, subject?: string): MiddlewareHandler {
  return async (c, next) => {
    await assertBodySize(c, maxBytes, subject)
    return next()
  }
}

/**
 * Throws `EyrieError` (`size`) if the body of a request has more than `maxBytes`. `subject` names
 * the body in the error message. If the `Content-Length` is within the limit, the body is left
 * unread. A body of unknown length is buffered, so the client must be authenticated before.
 */
export async function assertBodySize(
  c: Context,
  maxBytes: number,
  subject = 'body',
): Promise<void> {
  const contentLength = c.req.header('Content-Length')
  const isLengthKnown =
    contentLength !== undefined && c.req.header('Transfer-Encoding') === undefined
  if (isLengthKnown && Number(contentLength) <= maxBytes) return

  const { body } = c.req.raw
  if (!body) return

  const content = await readUpTo(maxBytes, body)
  if (!content) {
    throw new EyrieError('size', `the ${subject} is larger than ${formatByteLimit(maxBytes)}`)
  }
  c.req.raw = new Request(c.req.raw, { body: content })
}

/** Reads a body. Returns undefined if it is larger than `maxBytes`. */
async function readUpTo(
  maxBytes: number,
  body: ReadableStream<Uint8Array>,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else if (size > maxBytes + MAX_DISCARDED_BYTES) break
  }
  return size <= maxBytes ? Buffer.concat(chunks) : undefined
}

/**
 * Returns the media type of the body in lower case, without parameters, or undefined
 * without a Content-Type.
 */
export function getMediaType(c: Context): string | undefined {
  return c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
}

/** Creates an `EyrieError` (`type`) for a body whose media type is not among the accepted ones. */
export function createMediaTypeError(
  type: string | undefined,
  accepted: readonly string[],
): EyrieError {
  const advice = `send Content-Type: ${accepted.join(' or ')}`
  return new EyrieError('type', `the Content-Type is ${type ?? 'missing'}: ${advice}`)
}

/**
 * Returns the JSON body of a request between the services. Throws `EyrieError` (`syntax`) if the
 * body is not JSON or does not match the schema.
 */
export async function parseJsonBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  // No schema admits undefined.
  const body: unknown = await c.req.json().catch(() => undefined)
  return parseAs(schema, body)
}

/** Parses a JSON body. Throws `EyrieError` (`syntax`) if it is malformed or nested too deeply. */
export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new EyrieError('syntax', `the body is not valid JSON: ${(cause as Error).message}`, {
      cause,
    })
  }
  if (isDeeperThan(value, MAX_DEPTH)) {
    throw new EyrieError('syntax', `the body is nested deeper than ${MAX_DEPTH} levels`)
  }
  return value
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  if (levels === 0) return true
  return Object.values(value).some(part => isDeeperThan(part, levels - 1))
}
