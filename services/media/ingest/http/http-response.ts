import type { Message } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ticksToUs } from '../../runtime/stream-time.ts'

/** Status of an HTTP response, and the headers that describe its video. */
export interface ResponseHead {
  /** HTTP status code; 0 without a response. */
  status: number
  /** Media type without parameters. */
  type: string | undefined
  /** Whether the response has a `Content-Length`: if so, the video is a file. */
  hasLength: boolean
  /** Wall clock at pts 0, in µs since 1970. Only known for the live view of another Eyrie appliance, from its header `X-Pts`. */
  anchorUs: number | undefined
}

/** Parses the message by which `souphttpsrc` reports a response; undefined for other messages. */
export function parseResponse(
  message: Extract<Message, { type: 'element' }>,
  clock: Clock,
): ResponseHead | undefined {
  if (message.name !== 'http-headers') return undefined
  const { 'http-status-code': status, 'response-headers': headers } = message.fields
  // GStreamer serializes the nested structure as an escaped string.
  const text = String(headers).replaceAll('\\', '')
  const newestPts = Number(findHeader(text, 'x-pts') ?? Number.NaN)
  const anchorUs = Math.round(clock.wall() * 1000 - ticksToUs(newestPts))

  return {
    status: Number(status),
    type: findHeader(text, 'content-type')?.toLowerCase(),
    hasLength: findHeader(text, 'content-length') !== undefined,
    anchorUs: Number.isFinite(anchorUs) ? anchorUs : undefined,
  }
}

/** Returns the value of a header, without parameters, from a structure such as `x, Content-Type=(string)"video/mp4;a=b"`. */
function findHeader(structure: string, name: string): string | undefined {
  const match = new RegExp(`[ ,]${name}=\\(string\\)"?([^";,]+)`, 'i').exec(structure)
  return match?.[1]?.trim()
}
