import type { ErrorBody } from '@eyrie/contract'
import type { Context } from 'hono'

/** Content that supports range requests (RFC 9110, section 14). */
export interface RangeContent {
  bytes: number
  /** Identifies the exact bytes of the content. */
  tag: string
  headers: Record<string, string>
  /** Reads the bytes from `start` up to, but not including, `end`. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** Responds with the whole content, or with the single range that the client has requested. */
export function respondWithRange(c: Context, content: RangeContent): Response {
  const { bytes } = content
  const etag = `"${content.tag}"`
  const isSameContent = (c.req.header('if-range') ?? etag) === etag
  const range = isSameContent ? parseRange(c.req.header('range'), bytes) : undefined
  if (range === 'unsatisfiable') return rejectRange(bytes)
  const { start, end } = range ?? { start: 0, end: bytes }
  const headers = {
    ...content.headers,
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Content-Length': String(end - start),
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${bytes}` }),
  }
  const body = c.req.method === 'HEAD' ? null : ReadableStream.from(content.read(start, end))
  return new Response(body, { status: range ? 206 : 200, headers })
}

function rejectRange(bytes: number): Response {
  const reason = `the content has only ${bytes} bytes: request a range that begins before its end`
  const error: ErrorBody = { code: 'syntax', reason, value: { bytes } }
  const headers = { 'Content-Type': 'application/json', 'Content-Range': `bytes */${bytes}` }
  return new Response(JSON.stringify(error), { status: 416, headers })
}

/**
 * Returns undefined for a header that is ignored, as RFC 9110 requires for invalid ranges (`bytes=9-3`) and permits for several
 * ranges. (The package range-parser reports both `9-3` and a suffix longer than the content as unsatisfiable.)
 */
function parseRange(
  header: string | undefined,
  bytes: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') {
    if (last === '0') return 'unsatisfiable'
    return { start: Math.max(0, bytes - Number(last)), end: bytes }
  }
  const start = Number(first)
  const end = last === '' ? bytes : Number(last) + 1
  if (last !== '' && end <= start) return undefined
  return start < bytes ? { start, end: Math.min(end, bytes) } : 'unsatisfiable'
}
