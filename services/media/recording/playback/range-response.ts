import type { ErrorBody } from '@eyrie/contract'
import type { Context } from 'hono'

/** Bytes of which a part can be had (RFC 9110, section 14). */
export interface RangeContent {
  bytes: number
  /** Says of two answers whether they are of the same bytes. */
  tag: string
  headers: Record<string, string>
  /** From the first up to but not including the last. */
  read(from: number, to: number): AsyncIterable<Uint8Array>
}

/** Answers with all of it, or with the one part that was asked for, as players do that seek. */
export function respondWithRange(c: Context, whole: RangeContent): Response {
  const etag = `"${whole.tag}"`
  const headers = { ...whole.headers, 'Accept-Ranges': 'bytes', ETag: etag }
  const isSame = (c.req.header('if-range') ?? etag) === etag
  const part = isSame ? partOf(c.req.header('range'), whole.bytes) : 'all'
  if (part === 'none') {
    const reason = `there are only ${whole.bytes} bytes: ask for a part that begins before their end`
    const error: ErrorBody = { code: 'syntax', reason, value: { bytes: whole.bytes } }
    const answer = { 'Content-Type': 'application/json', 'Content-Range': `bytes */${whole.bytes}` }
    return new Response(JSON.stringify(error), { status: 416, headers: answer })
  }
  const [from, to] = part === 'all' ? [0, whole.bytes] : part
  const body = c.req.method === 'HEAD' ? null : ReadableStream.from(whole.read(from, to))
  const told = { ...headers, 'Content-Length': String(to - from) }
  return part === 'all'
    ? new Response(body, { headers: told })
    : new Response(body, {
        status: 206,
        headers: { ...told, 'Content-Range': `bytes ${from}-${to - 1}/${whole.bytes}` },
      })
}

/** What is not understood, such as several parts at once, is answered with all of it. */
function partOf(range: string | undefined, bytes: number): [from: number, to: number] | 'all' | 'none' {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return 'all'
  if (first === '') return last === '0' ? 'none' : [Math.max(0, bytes - Number(last)), bytes]
  const [from, to] = [Number(first), last === '' ? bytes : Number(last) + 1]
  if (last !== '' && to <= from) return 'all'
  return from < bytes ? [from, Math.min(to, bytes)] : 'none'
}
