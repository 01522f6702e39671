/** Parses the fragmented MP4 that media serves (ISO/IEC 14496-12). */

const HEADER_BYTES = 8
/** A larger box means that the stream is not an MP4: no picture is this large. */
const MAX_BOX_BYTES = 64 << 20

export interface Segment {
  /** `init`: ftyp and moov; `fragment`: moof and mdat. */
  kind: 'init' | 'fragment'
  bytes: Buffer<ArrayBuffer>
}

/** Splits a stream of bytes into segments. Throws if it is not an MP4. */
export async function* splitSegments(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Segment> {
  let buffered = Buffer.alloc(0)
  let end = 0
  for await (const bytes of stream) {
    buffered = Buffer.concat([buffered, bytes])
    for (;;) {
      const size = readBoxSize(buffered, end)
      if (size === undefined || buffered.length < end + size) break
      const type = readBoxType(buffered, end)
      end += size
      if (type !== 'moov' && type !== 'mdat') continue
      yield { kind: type === 'moov' ? 'init' : 'fragment', bytes: Buffer.from(buffered.subarray(0, end)) }
      buffered = buffered.subarray(end)
      end = 0
    }
  }
}

/** Undefined until the header of the box has arrived. */
function readBoxSize(bytes: Buffer, offset: number): number | undefined {
  if (bytes.length < offset + HEADER_BYTES) return undefined
  const size = bytes.readUInt32BE(offset)
  if (size >= HEADER_BYTES && size <= MAX_BOX_BYTES) return size
  throw new Error(`media sent a box with an invalid size of ${size} bytes`)
}

export interface Box {
  type: string
  /** Header and payload. */
  whole: Buffer
  payload: Buffer
}

export function parseBoxes(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  let offset = 0
  while (offset + HEADER_BYTES <= bytes.length) {
    const whole = bytes.subarray(offset, offset + bytes.readUInt32BE(offset))
    if (whole.length < HEADER_BYTES) break
    boxes.push({ type: readBoxType(bytes, offset), whole, payload: whole.subarray(HEADER_BYTES) })
    offset += whole.length
  }
  return boxes
}

/** Returns the payload of the first box at `path`. Throws if it is missing. */
export function findBox(bytes: Buffer, ...path: string[]): Buffer {
  let payload = bytes
  for (const type of path) {
    const box = parseBoxes(payload).find(each => each.type === type)
    if (!box) throw new Error(`media sent a live stream without ${path.join('/')}`)
    payload = box.payload
  }
  return payload
}

/** The single access unit of a fragment. Times in 90 kHz ticks of stream time. */
export interface AccessUnit {
  pts: number
  dts: number
  duration: number
  isKeyframe: boolean
}

const NON_SYNC_SAMPLE = 0x10000

/** Relies on the layout of media's packager: one sample per fragment, with all optional fields of `trun`. */
export function parseAccessUnit(fragment: Buffer): AccessUnit {
  const dts = Number(findBox(fragment, 'moof', 'traf', 'tfdt').readBigUInt64BE(4))
  const run = findBox(fragment, 'moof', 'traf', 'trun')
  return {
    dts,
    pts: dts + run.readInt32BE(24),
    duration: run.readUInt32BE(12),
    isKeyframe: (run.readUInt32BE(20) & NON_SYNC_SAMPLE) === 0,
  }
}

/** Overwrites the sequence number and the decoding time of a fragment, in ticks of the file. */
export function rewriteTiming(fragment: Buffer, sequence: number, dts: number): void {
  findBox(fragment, 'moof', 'mfhd').writeUInt32BE(sequence, 4)
  findBox(fragment, 'moof', 'traf', 'tfdt').writeBigUInt64BE(BigInt(dts), 4)
}

const readBoxType = (bytes: Buffer, offset: number) =>
  bytes.toString('latin1', offset + 4, offset + HEADER_BYTES)
