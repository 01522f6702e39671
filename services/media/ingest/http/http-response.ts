import type { Message } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'

/** The parts of an HTTP response's status and headers that describe the video. */
export interface ResponseHead {
  /** 0 if there was no response. */
  status: number
  /** Media type without parameters. */
  type: string | undefined
  /** The response has a `Content-Length`, so that the video is a file. */
  hasLength: boolean
  /** Wall clock, in µs since 1970, at pts 0 of a stream from another instance. */
  anchorUs: number | undefined
}

/** Returns undefined for other element messages. */
export function parseResponse(
  message: Extract<Message, { type: 'element' }>,
  clock: Clock,
): ResponseHead | undefined {
  if (message.name !== 'http-headers') return undefined
  const { 'http-status-code': status, 'response-headers': headers } = message.fields
  // GStreamer serializes the nested structure as an escaped string.
  const text = String(headers).replaceAll('\\', '')
  const header = (name: string) =>
    new RegExp(`[ ,]${name}=\\(string\\)"?([^";,]+)`, 'i').exec(text)?.[1]?.trim()
  const newestPts = Number(header('x-pts') ?? Number.NaN)
  return {
    status: Number(status),
    type: header('content-type')?.toLowerCase(),
    hasLength: header('content-length') !== undefined,
    anchorUs: Number.isFinite(newestPts)
      ? Math.round(clock.wall() * 1000 - (newestPts * 100) / 9)
      : undefined,
  }
}
