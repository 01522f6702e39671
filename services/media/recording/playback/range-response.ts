import type { ErrorBody } from '@eyrie/contract'
import type { Context } from 'hono'

/** Content that clients may request in part (RFC 9110, section 14). */
export interface RangeContent {
  /** Size in bytes. */
  size: number
  /** Identifies the exact bytes of the content. */
  tag: string
  headers: Record<string, string>
  /** Reads the bytes from `start` up to, but not including, `end`. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** Responds with the whole content, or with the range that the client has requested. */
export function respondWithRange(c: Context, content: RangeContent): Response {
  const { size } = content
  const etag = `"${content.tag}"`

  // A client that resumes a download sends `If-Range`: if the content has changed meanwhile, it
  // gets the whole new content.
  const expectedTag = c.req.header('if-range')
  const isSameContent = expectedTag === undefined || expectedTag === etag
  const range = isSameContent ? parseRange(c.req.header('range'), size) : undefined
  if (range === 'unsatisfiable') return rejectRange(size)

  const { start, end } = range ?? { start: 0, end: size }
  const headers = {
    ...content.headers,
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Content-Length': String(end - start),
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${size}` }),
  }
  const body = c.req.method === 'HEAD' ? null : ReadableStream.from(content.read(start, end))
  return new Response(body, { status: range ? 206 : 200, headers })
}

function rejectRange(size: number): Response {
  const reason = `the content has only ${size} bytes: request a range that begins before its end`
  const error: ErrorBody = { code: 'syntax', reason, value: { bytes: size } }
  const headers = { 'Content-Type': 'application/json', 'Content-Range': `bytes */${size}` }
  return new Response(JSON.stringify(error), { status: 416, headers })
}

interface ByteRange {
  start: number
  /** Exclusive. */
  end: number
}

/**
 * Parses a header with a single range. Returns undefined if the whole content must be sent: RFC
 * 9110 requires this for an invalid range (`bytes=9-3`) and permits it for several ranges. The
 * package range-parser is not used, because it reports invalid ranges, and suffixes longer than the
 * content, as unsatisfiable.
 */
function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return selectSuffix(Number(last), size)

  const start = Number(first)
  const end = last === '' ? size : Number(last) + 1
  if (last !== '' && end <= start) return undefined
  return start < size ? { start, end: Math.min(end, size) } : 'unsatisfiable'
}

/** Returns the range of the last bytes of the content. */
function selectSuffix(bytes: number, size: number): ByteRange | 'unsatisfiable' {
  return bytes === 0 ? 'unsatisfiable' : { start: Math.max(0, size - bytes), end: size }
}
