import { type MessageFormat, type MessageHeader, messageHeader } from '@eyrie/contract/zmq-messages'

/** What a message's payload is, once it has been looked at: its size is the picture's own. */
export interface MessagePicture {
  format: NonNullable<MessageFormat>
  width: number
  height: number
  data: Uint8Array
}

export interface FrameMessage {
  topic: string
  header: MessageHeader
  picture: MessagePicture | undefined
}

const MOST_HEADER_BYTES = 4 << 20
const BYTES_PER_PIXEL = { RGB: 3, BGR: 3, GRAY8: 1 } as const

/** Reads `[topic, header, payload]`. Throws an Error that says what is wrong with it: it may come from anybody. */
export function parseFrameMessage(parts: readonly Uint8Array[]): FrameMessage {
  const [topic, header, payload] = parts
  if (parts.length !== 3 || !topic || !header || !payload)
    throw new Error(`it has ${parts.length} parts instead of topic, header and payload`)
  if (topic.length > 255 || header.length > MOST_HEADER_BYTES)
    throw new Error('its topic or header is too long')
  const read = readHeader(header)
  return { topic: Buffer.from(topic).toString(), header: read, picture: pictureIn(read, payload) }
}

function readHeader(bytes: Uint8Array): MessageHeader {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    throw new Error('its header is no JSON')
  }
  const parsed = messageHeader.safeParse(json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`its header is wrong at /${issue?.path.join('/')}: ${issue?.message}`)
}

function pictureIn({ format, width, height }: MessageHeader, data: Uint8Array): MessagePicture | undefined {
  if (data.length === 0) return undefined
  if (!format) throw new Error('its header names no format of the payload')
  if (format === 'JPEG') return { format, data, ...jpegSize(data) }
  const bytes = width * height * BYTES_PER_PIXEL[format]
  if (data.length !== bytes)
    throw new Error(`its payload has ${data.length} bytes, and ${width}x${height} ${format} has ${bytes}`)
  return { format, width, height, data: alignRows(data, width * BYTES_PER_PIXEL[format], height) }
}

/** GStreamer wants rows that begin at multiples of four. */
function alignRows(data: Uint8Array, rowBytes: number, rows: number): Uint8Array {
  const stride = Math.ceil(rowBytes / 4) * 4
  if (stride === rowBytes) return data
  const aligned = new Uint8Array(stride * rows)
  for (let row = 0; row < rows; row++)
    aligned.set(data.subarray(row * rowBytes, (row + 1) * rowBytes), row * stride)
  return aligned
}

/** From the frame header (ITU-T T.81, B.2.2), which is found by going from marker to marker. */
function jpegSize(data: Uint8Array): { width: number; height: number } {
  const jpeg = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let at = 2
  if (data.length > 4 && jpeg.getUint16(0) === 0xffd8) {
    while (at + 9 <= data.length && data[at] === 0xff) {
      const marker = data[at + 1]!
      const startsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
      const [height, width] = [jpeg.getUint16(at + 5), jpeg.getUint16(at + 7)]
      if (startsFrame && width > 0 && height > 0) return { width, height }
      at += 2 + jpeg.getUint16(at + 2)
    }
  }
  throw new Error('its payload is no JPEG')
}
