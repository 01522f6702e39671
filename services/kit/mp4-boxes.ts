import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
/** Boxes of the ISO base media file format (ISO/IEC 14496-12). All numbers are big endian. */

export type Bytes = Uint8Array

export function box(type: string, ...parts: Bytes[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8)
  return Buffer.concat([u32(length), Buffer.from(type, 'latin1'), ...parts], length)
}

/** A box that starts with a version and 24 bits of flags. */
export function fullBox(type: string, version: number, flags: number, ...parts: Bytes[]): Buffer {
  return box(type, u32(version * 2 ** 24 + flags), ...parts)
}

export function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2)
  values.forEach((value, i) => {
    bytes.writeUInt16BE(value, i * 2)
  })
  return bytes
}

export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => {
    bytes.writeUInt32BE(value, i * 4)
  })
  return bytes
}

export function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

/** Timescale of the movie and of all tracks. */
export const TIMESCALE = TICKS_PER_SECOND
export const UNITY_MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
/** Flag of `tfhd`: sample offsets are relative to the `moof`. */
export const TFHD_BASE_IS_MOOF = 0x20000

const ENABLED_IN_MOVIE = 3
const UNDETERMINED_LANGUAGE = 0x55c4
const SELF_CONTAINED = 1

export interface TrackKind {
  id: number
  /** Handler type: `vide`, `soun` or `meta`. */
  handler: string
  name: string
  /** 8.8 fixed point: 0x100 for audio tracks, 0 for others. */
  volume: number
}

/** Presentation and sample format of a track. */
export interface TrackDescription {
  /** Width and height as two 16.16 fixed-point numbers. */
  size: Buffer
  /** Media header: `vmhd`, `smhd` or `nmhd`. */
  header: Buffer
  /** The sample entry. */
  entry: Buffer
  /** A `tref` box if the track describes another track. */
  references?: Buffer
}

/** The `trak` box of a track in a fragmented file. */
export function trackBox(
  { id, handler, name, volume }: TrackKind,
  { size, header, entry, references = Buffer.alloc(0) }: TrackDescription,
): Buffer {
  const layerToVolume = u16(0, 0, volume, 0)
  return box(
    'trak',
    fullBox('tkhd', 0, ENABLED_IN_MOVIE, u32(0, 0, id, 0, 0, 0, 0), layerToVolume, UNITY_MATRIX, size),
    references,
    box(
      'mdia',
      fullBox('mdhd', 0, 0, u32(0, 0, TIMESCALE, 0), u16(UNDETERMINED_LANGUAGE, 0)),
      fullBox('hdlr', 0, 0, u32(0), Buffer.from(handler), u32(0, 0, 0), Buffer.from(`${name}\0`)),
      box(
        'minf',
        header,
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, SELF_CONTAINED))),
        sampleTable(entry),
      ),
    ),
  )
}

/** A sample table without samples: those are in the fragments. */
function sampleTable(entry: Buffer): Buffer {
  return box(
    'stbl',
    fullBox('stsd', 0, 0, u32(1), entry),
    fullBox('stts', 0, 0, u32(0)),
    fullBox('stsc', 0, 0, u32(0)),
    fullBox('stsz', 0, 0, u32(0, 0)),
    fullBox('stco', 0, 0, u32(0)),
  )
}
