/**
 * Parses the live streams of the media service, which are fragmented MP4 (ISO/IEC 14496-12). A
 * stream is a sequence of boxes: an init segment, then a fragment for each picture.
 */

/**
 * A box starts with its size as u32, including this header, and with four characters for its type.
 */
const HEADER_BYTES = 8
const TYPE_OFFSET = 4
/** No picture is this large: a larger box means that the stream is not an MP4. */
const MAX_BOX_BYTES = 64 << 20
/**
 * Offset of the sequence number in `mfhd` (8.8.5), and of the decoding time in `tfdt`
 * (8.8.12, version 1).
 */
const MFHD_SEQUENCE_OFFSET = 4
const TFDT_TIME_OFFSET = 4
/**
 * Offsets of the fields of the first sample in `trun` (8.8.8) with data offset and all
 * optional fields of a sample.
 */
const TRUN_DURATION_OFFSET = 12
const TRUN_FLAGS_OFFSET = 20
const TRUN_COMPOSITION_OFFSET = 24
/** `sample_is_non_sync_sample` in the flags of a sample (8.8.3.1). */
const NON_SYNC_SAMPLE = 0x10000

/** A part of a stream that can be written to a file. */
export interface Segment {
  /**
   * An `init` segment consists of the boxes `ftyp` and `moov`, a `fragment` of `moof` and `mdat`.
   */
  kind: 'init' | 'fragment'
  bytes: Buffer<ArrayBuffer>
}

/** Splits a stream of bytes into segments. Throws an Error if the stream is not an MP4. */
export async function* splitSegments(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Segment> {
  /** The received bytes of the current segment. */
  let buffered = Buffer.alloc(0)
  /** Offset after the last complete box of the current segment. */
  let end = 0
  for await (const chunk of stream) {
    buffered = Buffer.concat([buffered, chunk])
    for (;;) {
      const size = readBoxSize(buffered, end)
      if (size === undefined || end + size > buffered.length) break
      const type = readBoxType(buffered, end)
      end += size
      const isLastBox = type === 'moov' || type === 'mdat'
      if (!isLastBox) continue

      yield {
        kind: type === 'moov' ? 'init' : 'fragment',
        bytes: Buffer.from(buffered.subarray(0, end)),
      }
      buffered = buffered.subarray(end)
      end = 0
    }
  }
}

/** Returns undefined if the buffer does not contain the header of the box yet. */
function readBoxSize(buffer: Buffer, offset: number): number | undefined {
  if (buffer.length < offset + HEADER_BYTES) return undefined
  const size = buffer.readUInt32BE(offset)
  if (size >= HEADER_BYTES && size <= MAX_BOX_BYTES) return size
  throw new Error(`the media service sent an MP4 box with an invalid size of ${size} bytes`)
}

export interface Box {
  type: string
  /** Header and payload. */
  whole: Buffer
  payload: Buffer
}

/**
 * Parses a sequence of boxes. Ignores an incomplete box at the end. Throws an Error if the size
 * of a box is invalid.
 */
export function parseBoxes(buffer: Buffer): Box[] {
  const boxes: Box[] = []
  let offset = 0
  for (;;) {
    const size = readBoxSize(buffer, offset)
    if (size === undefined || offset + size > buffer.length) return boxes
    const whole = buffer.subarray(offset, offset + size)
    boxes.push({ type: readBoxType(buffer, offset), whole, payload: whole.subarray(HEADER_BYTES) })
    offset += size
  }
}

/**
 * Returns the payload of the first box at `path`, such as `moof`, `traf`. Throws an Error
 * if the box is missing.
 */
export function findBox(buffer: Buffer, ...path: string[]): Buffer {
  let payload = buffer
  for (const type of path) {
    const box = parseBoxes(payload).find(candidate => candidate.type === type)
    if (!box) {
      throw new Error(`the media service sent an MP4 stream without the box ${path.join('/')}`)
    }
    payload = box.payload
  }
  return payload
}

/**
 * Describes the coded picture in a fragment (the access unit, in the terms of video coding). Times
 * are in 90 kHz ticks of stream time.
 */
export interface AccessUnit {
  /** Presentation time. */
  pts: number
  /** Decoding time. */
  dts: number
  duration: number
  isKeyframe: boolean
}

/**
 * Parses a fragment of the media service, which has one sample and all optional fields of `trun`.
 */
export function parseAccessUnit(fragment: Buffer): AccessUnit {
  const tfdt = findBox(fragment, 'moof', 'traf', 'tfdt')
  const trun = findBox(fragment, 'moof', 'traf', 'trun')
  const dts = Number(tfdt.readBigUInt64BE(TFDT_TIME_OFFSET))
  return {
    dts,
    pts: dts + trun.readInt32BE(TRUN_COMPOSITION_OFFSET),
    duration: trun.readUInt32BE(TRUN_DURATION_OFFSET),
    isKeyframe: (trun.readUInt32BE(TRUN_FLAGS_OFFSET) & NON_SYNC_SAMPLE) === 0,
  }
}

/**
 * Overwrites the sequence number of a fragment and its decoding time, in ticks since
 * the start of the file.
 */
export function rewriteTiming(fragment: Buffer, sequence: number, dts: number): void {
  findBox(fragment, 'moof', 'mfhd').writeUInt32BE(sequence, MFHD_SEQUENCE_OFFSET)
  findBox(fragment, 'moof', 'traf', 'tfdt').writeBigUInt64BE(BigInt(dts), TFDT_TIME_OFFSET)
}

const readBoxType = (buffer: Buffer, offset: number) =>
  buffer.toString('latin1', offset + TYPE_OFFSET, offset + HEADER_BYTES)
