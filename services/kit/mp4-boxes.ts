import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

// Writes boxes of MP4 files (ISO base media file format, ISO/IEC 14496-12). All numbers are
// big-endian. Functions with names such as `u16` encode numbers. Zeros without a name are fields
// that the standard reserves, or that have their default.

export type Bytes = Uint8Array

/** Four bytes for the size and four for the type. */
const BOX_HEADER_BYTES = 8
/** Time units per second in the movie and in all tracks. */
export const TIMESCALE = TICKS_PER_SECOND
/**
 * Flag `default-base-is-moof` of `tfhd`: sample offsets are relative to the start of the `moof`
 * box.
 */
export const TFHD_BASE_IS_MOOF = 0x20000
/** Flags `track_enabled` and `track_in_movie` of `tkhd`. */
const ENABLED_IN_MOVIE = 3
/** The language code `und`, with five bits per letter. */
const UNDETERMINED_LANGUAGE = 0x55c4
/** Flag of `url `: the samples are in the same file. */
const SELF_CONTAINED = 1

/** Creates a box: its size including the header, its four-character type, and its content. */
export function box(type: string, ...content: Bytes[]): Buffer {
  const contentSize = content.reduce((sum, { length }) => sum + length, 0)
  const size = BOX_HEADER_BYTES + contentSize
  return Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...content], size)
}

/** Creates a box that starts with a version and 24 bits of flags. */
export function fullBox(type: string, version: number, flags: number, ...content: Bytes[]): Buffer {
  return box(type, u32(version * 2 ** 24 + flags), ...content)
}

export function u16(...values: number[]): Buffer {
  const encoded = Buffer.alloc(values.length * 2)
  for (let i = 0; i < values.length; i++) encoded.writeUInt16BE(values[i]!, i * 2)
  return encoded
}

export const u32 = (...values: number[]): Buffer => u32Table(values)

/** Encodes any number of values. The number of arguments of a function is limited. */
export function u32Table(values: readonly number[]): Buffer {
  const encoded = Buffer.alloc(values.length * 4)
  for (let i = 0; i < values.length; i++) encoded.writeUInt32BE(values[i]!, i * 4)
  return encoded
}

export function i32(value: number): Buffer {
  const encoded = Buffer.alloc(4)
  encoded.writeInt32BE(value)
  return encoded
}

export function u64(value: number): Buffer {
  const encoded = Buffer.alloc(8)
  encoded.writeBigUInt64BE(BigInt(value))
  return encoded
}

/** Transformation matrix that leaves the picture unchanged. */
export const UNITY_MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

export interface TrackKind {
  id: number
  /** Handler type: `vide`, `soun` or `meta`. */
  handler: string
  name: string
  /** 8.8 fixed point: 0x100 for audio tracks, 0 for others. */
  volume: number
}

/** Picture size and sample format of a track. */
export interface TrackDescription {
  /** Width and height as two 16.16 fixed-point numbers. */
  size: Buffer
  /** Media header: `vmhd`, `smhd` or `nmhd`. */
  header: Buffer
  /** The sample entry, which describes the codec. */
  entry: Buffer
  /** A `tref` box, for a track that contains metadata of another track. */
  references?: Buffer
}

/** Creates the `trak` box of a track in a fragmented file. */
export function trackBox(
  kind: TrackKind,
  { size, header, entry, references = Buffer.alloc(0) }: TrackDescription,
): Buffer {
  return box('trak', trackHeaderBox(kind, size), references, mediaBox(kind, header, entry))
}

function trackHeaderBox({ id, volume }: TrackKind, size: Buffer): Buffer {
  // Creation and modification time, track id, and a duration of 0, because the fragments
  // determine the duration.
  const timesAndId = u32(0, 0, id, 0, 0, 0, 0)
  const layerAndVolume = u16(0, 0, volume, 0)
  return fullBox('tkhd', 0, ENABLED_IN_MOVIE, timesAndId, layerAndVolume, UNITY_MATRIX, size)
}

/** Creates the `mdia` box. `header` is its media header, and `entry` its sample entry. */
function mediaBox({ handler, name }: TrackKind, header: Buffer, entry: Buffer): Buffer {
  // Creation and modification time, timescale and duration.
  const times = u32(0, 0, TIMESCALE, 0)
  const mediaHeader = fullBox('mdhd', 0, 0, times, u16(UNDETERMINED_LANGUAGE, 0))
  const handlerType = Buffer.from(handler)
  const terminatedName = Buffer.from(`${name}\0`)
  const handlerBox = fullBox('hdlr', 0, 0, u32(0), handlerType, u32(0, 0, 0), terminatedName)
  const url = fullBox('url ', 0, SELF_CONTAINED)
  const dataLocation = box('dinf', fullBox('dref', 0, 0, u32(1), url))
  const mediaInformation = box('minf', header, dataLocation, sampleTableBox(entry))
  return box('mdia', mediaHeader, handlerBox, mediaInformation)
}

/** Creates a sample table without samples: in a fragmented file, the fragments list the samples. */
function sampleTableBox(entry: Buffer): Buffer {
  return box(
    'stbl',
    fullBox('stsd', 0, 0, u32(1), entry),
    fullBox('stts', 0, 0, u32(0)),
    fullBox('stsc', 0, 0, u32(0)),
    fullBox('stsz', 0, 0, u32(0, 0)),
    fullBox('stco', 0, 0, u32(0)),
  )
}
