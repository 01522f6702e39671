/** Reading the fragmented MP4 that media serves (ISO/IEC 14496-12). */

const HEADER_BYTES = 8
/** No picture is larger; a length beyond it means that this is no such stream. */
const LARGEST_BOX_BYTES = 64 << 20

export interface Segment {
  /** `init`: ftyp and moov; `fragment`: moof and mdat. */
  kind: 'init' | 'fragment'
  bytes: Buffer<ArrayBuffer>
}

/** Cuts a stream of bytes into its segments. Throws where it is no MP4. */
export async function* segmentsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Segment> {
  let held = Buffer.alloc(0)
  let end = 0
  for await (const bytes of stream) {
    held = Buffer.concat([held, bytes])
    for (let size = sizeAt(held, end); held.length >= end + size; size = sizeAt(held, end)) {
      const type = typeAt(held, end)
      end += size
      if (type !== 'moov' && type !== 'mdat') continue
      yield { kind: type === 'moov' ? 'init' : 'fragment', bytes: Buffer.from(held.subarray(0, end)) }
      held = held.subarray(end)
      end = 0
    }
  }
}

/** A box that has not come so far counts as endless. */
function sizeAt(bytes: Buffer, at: number): number {
  if (bytes.length < at + HEADER_BYTES) return Number.POSITIVE_INFINITY
  const size = bytes.readUInt32BE(at)
  if (size >= HEADER_BYTES && size <= LARGEST_BOX_BYTES) return size
  throw new Error(`media has sent a box of ${size} bytes, which no live view holds`)
}

export interface Box {
  type: string
  /** With its header. */
  whole: Buffer
  payload: Buffer
}

export function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const whole = bytes.subarray(at, at + bytes.readUInt32BE(at))
    if (whole.length < HEADER_BYTES) break
    boxes.push({ type: typeAt(bytes, at), whole, payload: whole.subarray(HEADER_BYTES) })
    at += whole.length
  }
  return boxes
}

/** The payload of the first box at this path. Throws where there is none. */
export function boxAt(bytes: Buffer, ...path: string[]): Buffer {
  let found = bytes
  for (const type of path) {
    const box = boxesIn(found).find(each => each.type === type)
    if (!box) throw new Error(`media has sent a live view without ${path.join('/')}`)
    found = box.payload
  }
  return found
}

/** The one access unit of a fragment; times in 90 kHz ticks of stream time. */
export interface Unit {
  pts: number
  dts: number
  duration: number
  keyframe: boolean
}

const NON_SYNC_SAMPLE = 0x10000

/** Reads what media's packager writes: one sample, all fields of its run present. */
export function unitOf(fragment: Buffer): Unit {
  const dts = Number(boxAt(fragment, 'moof', 'traf', 'tfdt').readBigUInt64BE(4))
  const run = boxAt(fragment, 'moof', 'traf', 'trun')
  return {
    dts,
    pts: dts + run.readInt32BE(24),
    duration: run.readUInt32BE(12),
    keyframe: (run.readUInt32BE(20) & NON_SYNC_SAMPLE) === 0,
  }
}

/** Gives a fragment another place in a file: its number, and its decoding time in ticks of the file. */
export function place(fragment: Buffer, sequence: number, dts: number): void {
  boxAt(fragment, 'moof', 'mfhd').writeUInt32BE(sequence, 4)
  boxAt(fragment, 'moof', 'traf', 'tfdt').writeBigUInt64BE(BigInt(dts), 4)
}

const typeAt = (bytes: Buffer, at: number) => bytes.toString('latin1', at + 4, at + HEADER_BYTES)
