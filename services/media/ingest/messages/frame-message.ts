import { type MessageFormat, type MessageHeader, messageHeader } from '@eyrie/contract/zmq-messages'

/** The picture in the payload of a message. Its size may differ from the size in the header. */
export interface MessagePicture {
  format: NonNullable<MessageFormat>
  width: number
  height: number
  data: Uint8Array
}

/**
 * A message that another program or pipeline sends over ZeroMQ: the analysis results of a frame,
 * and optionally its picture.
 */
export interface FrameMessage {
  topic: string
  header: MessageHeader
  picture: MessagePicture | undefined
}

const MAX_TOPIC_BYTES = 255
const MAX_HEADER_BYTES = 4 << 20
const BYTES_PER_PIXEL = { RGB: 3, BGR: 3, GRAY8: 1 } as const
// Markers of a JPEG (ITU-T T.81, table B.1). The first byte of each marker is 0xff.
const MARKER_PREFIX = 0xff
const START_OF_IMAGE = 0xffd8
const FIRST_FRAME_MARKER = 0xc0
const LAST_FRAME_MARKER = 0xcf
/**
 * The markers DHT, JPG and DAC, which are in the range of frame headers (SOF0 to SOF15) but
 * are not frame headers.
 */
const NON_FRAME_MARKERS = [0xc4, 0xc8, 0xcc]
// Offsets from the marker of a segment. The fields after the length are those of a frame header.
const LENGTH_OFFSET = 2
const HEIGHT_OFFSET = 5
const WIDTH_OFFSET = 7
/** Size of a frame header up to and including the width. */
const FRAME_HEADER_BYTES = 9

/**
 * Parses the parts of a ZeroMQ message: topic, header (JSON) and payload. The sender is untrusted.
 * Throws an `Error` whose message continues a sentence about the message ("it has 2 parts …").
 */
export function parseFrameMessage(parts: readonly Uint8Array[]): FrameMessage {
  const [topic, header, payload] = parts
  if (parts.length !== 3 || !topic || !header || !payload) {
    throw new Error(`it has ${parts.length} parts instead of topic, header and payload`)
  }
  if (topic.length > MAX_TOPIC_BYTES || header.length > MAX_HEADER_BYTES) {
    throw new Error('its topic or header is too long')
  }
  const parsedHeader = parseHeader(header)
  const picture = parsePicture(parsedHeader, payload)
  return { topic: Buffer.from(topic).toString(), header: parsedHeader, picture }
}

function parseHeader(bytes: Uint8Array): MessageHeader {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    throw new Error('its header is not JSON')
  }
  const parsed = messageHeader.safeParse(json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`its header is invalid at /${issue?.path.join('/')}: ${issue?.message}`)
}

function parsePicture(
  { format, width, height }: MessageHeader,
  data: Uint8Array,
): MessagePicture | undefined {
  if (data.length === 0) return undefined
  if (!format) throw new Error('its header does not specify the format of the payload')
  if (format === 'JPEG') return { format, data, ...parseJpegSize(data) }

  const rowBytes = width * BYTES_PER_PIXEL[format]
  const expectedBytes = rowBytes * height
  if (data.length !== expectedBytes) {
    const shape = `${width}x${height} ${format}`
    throw new Error(`its payload has ${data.length} bytes instead of ${expectedBytes} for ${shape}`)
  }
  return { format, width, height, data: alignRows(data, rowBytes, height) }
}

/** Pads each row to a multiple of four bytes, as GStreamer requires. */
function alignRows(data: Uint8Array, rowBytes: number, rows: number): Uint8Array {
  const stride = Math.ceil(rowBytes / 4) * 4
  if (stride === rowBytes) return data
  const aligned = new Uint8Array(stride * rows)
  for (let row = 0; row < rows; row++) {
    aligned.set(data.subarray(row * rowBytes, (row + 1) * rowBytes), row * stride)
  }
  return aligned
}

/** Reads the size of a JPEG from its frame header (ITU-T T.81, section B.2.2). */
function parseJpegSize(data: Uint8Array): { width: number; height: number } {
  const jpeg = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (data.length <= 4 || jpeg.getUint16(0) !== START_OF_IMAGE) throw createNoJpegError()

  // A segment consists of a marker of two bytes, the length of the rest in two
  // bytes, and its content.
  let offset = 2
  while (offset + FRAME_HEADER_BYTES <= data.length && data[offset] === MARKER_PREFIX) {
    const height = jpeg.getUint16(offset + HEIGHT_OFFSET)
    const width = jpeg.getUint16(offset + WIDTH_OFFSET)
    const hasSize = width > 0 && height > 0
    if (hasSize && isFrameMarker(jpeg.getUint8(offset + 1))) return { width, height }
    offset += LENGTH_OFFSET + jpeg.getUint16(offset + LENGTH_OFFSET)
  }
  throw createNoJpegError()
}

const isFrameMarker = (marker: number) =>
  marker >= FIRST_FRAME_MARKER && marker <= LAST_FRAME_MARKER && !NON_FRAME_MARKERS.includes(marker)

const createNoJpegError = () => new Error('its payload is not a JPEG')
