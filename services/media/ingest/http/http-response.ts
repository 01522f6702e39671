import type { Message } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ticksToUs } from '../../runtime/stream-time.ts'

/** Media types of web pages and of other responses that are never video. */
const PAGE_TYPE = /^(text\/(html|xml)|application\/(json|xml|xhtml\+xml))$/
/**
 * GStreamer determines the format from this many bytes. With fewer bytes, it neither finds video
 * nor reports an error.
 */
const MIN_VIDEO_BYTES = 4096

/** Status of an HTTP response, and the headers that describe its video. */
export interface ResponseHead {
  /** HTTP status code; 0 without a response. */
  status: number
  /** Media type without parameters. */
  type: string | undefined
  /** The address to which the server redirects. */
  location: string | undefined
  /** `Content-Length` in bytes: if it is present, the video is a file. */
  length: number | undefined
  /**
   * Wall clock at pts 0, in µs since 1970. Only known for the live view of another Eyrie appliance,
   * from its header `X-Pts`.
   */
  anchorUs: number | undefined
}

/**
 * Parses the message by which `souphttpsrc` reports a response. Returns undefined for other
 * messages.
 */
export function parseResponse(
  message: Extract<Message, { type: 'element' }>,
  clock: Clock,
): ResponseHead | undefined {
  if (message.name !== 'http-headers') return undefined
  const { 'http-status-code': status, 'response-headers': headers } = message.fields
  // GStreamer serializes the nested structure as an escaped string.
  const text = String(headers).replaceAll('\\', '')
  const length = findHeader(text, 'content-length')

  return {
    status: Number(status),
    type: findHeader(text, 'content-type')?.toLowerCase(),
    location: findLocation(text),
    length: length === undefined ? undefined : Number(length),
    anchorUs: calculateAnchorUs(findHeader(text, 'x-pts'), clock),
  }
}

/** Returns the wall clock at pts 0. The picture with `newestPts` is arriving at this moment. */
function calculateAnchorUs(newestPts: string | undefined, clock: Clock): number | undefined {
  if (newestPts === undefined) return undefined
  const anchorUs = Math.round(clock.wall() * 1000 - ticksToUs(Number(newestPts)))
  return Number.isSafeInteger(anchorUs) ? anchorUs : undefined
}

/** Whether a successful response cannot be video, such as the web page of a camera. */
export function isPage({ status, type, length }: ResponseHead): boolean {
  const isSuccess = status >= 200 && status < 300
  const isTooShort = length !== undefined && length < MIN_VIDEO_BYTES && type !== 'image/jpeg'
  return isSuccess && (isTooShort || PAGE_TYPE.test(type ?? ''))
}

/**
 * Returns the value of the header `Location` from a structure such as
 * `x, Location=(string)"/video;a=b,c"`. Unlike other headers, its separators are part of the value
 * if it is quoted.
 */
function findLocation(structure: string): string | undefined {
  const match = /[ ,]location=\(string\)(?:"([^"]+)"|([^";, ]+))/i.exec(structure)
  return match?.[1] ?? match?.[2]
}

/**
 * Returns the value of a header, without parameters, from a structure such as
 * `x, Content-Type=(string)"video/mp4;a=b"`.
 */
function findHeader(structure: string, name: string): string | undefined {
  const match = new RegExp(`[ ,]${name}=\\(string\\)"?([^";,]+)`, 'i').exec(structure)
  return match?.[1]?.trim()
}
