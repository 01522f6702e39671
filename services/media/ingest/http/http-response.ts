import type { Message } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'

/** The head of an HTTP server's answer, as far as it says something about the video. */
export interface ResponseHead {
  /** 0 where there was none. */
  status: number
  /** Media type without parameters. */
  type: string | undefined
  /** Its length is known: it is a file. */
  ends: boolean
  /** Wall clock, in µs since 1970, at pts 0 of a stream of another instance's media. */
  anchorUs: number | undefined
}

/** Undefined for a message about something else. */
export function parseResponse(
  message: Extract<Message, { type: 'element' }>,
  clock: Clock,
): ResponseHead | undefined {
  if (message.name !== 'http-headers') return undefined
  const { 'http-status-code': status, 'response-headers': headers } = message.fields
  // A structure inside a structure: GStreamer writes it as a string, and escapes it.
  const text = String(headers).replaceAll('\\', '')
  const header = (name: string) =>
    new RegExp(`[ ,]${name}=\\(string\\)"?([^";,]+)`, 'i').exec(text)?.[1]?.trim()
  const newestPts = Number(header('x-pts') ?? Number.NaN)
  return {
    status: Number(status),
    type: header('content-type')?.toLowerCase(),
    ends: header('content-length') !== undefined,
    anchorUs: Number.isFinite(newestPts)
      ? Math.round(clock.wall() * 1000 - (newestPts * 100) / 9)
      : undefined,
  }
}
