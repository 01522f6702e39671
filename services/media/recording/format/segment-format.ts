import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { box, fullBox, u32, u64 } from '@eyrie/kit/mp4-boxes'
import type { SoundTrack, SoundUnit } from '../../sound/sound-track.ts'
import { type AccessUnit, createInitSegment, createInterleavedFragment } from '../../stream/fmp4.ts'
import type { PlayableTrack } from '../../stream/sample-entry.ts'
import { type FragmentSamples, readSamples } from './fragment-samples.ts'

/**
 * Information about a segment, which is stored in the segment as JSON.
 *
 * A segment is a file with a few minutes of a source's recordings, in fragmented MP4 (ISO/IEC
 * 14496-12). It consists of an init segment, a `uuid` box with this information, and fragments. A
 * `prft` box before each fragment has the capture time of the first picture. Times begin at 0 with
 * the first picture in decoding order. After a crash, the file is playable up to the last complete
 * fragment, and the index can be rebuilt from it.
 */
export interface SegmentInfo {
  source: number
  /**
   * Epoch of the stream time: the start time of the media service. Stream times of different
   * epochs are not comparable.
   */
  epoch: number
  /** Stream time at time 0 of the file, in 90 kHz ticks. */
  pts: number
  codecs: string
  width: number
  height: number
}

/** A group of pictures with its sound. */
export interface Fragment extends FragmentSamples {
  /** Byte offset of the `moof` in the file. */
  offset: number
  /** Number of bytes from the `moof` to the end of the `mdat`. */
  length: number
  /** Capture time of the first picture in decoding order, µs since 1970. */
  timeUs: number
}

export interface SegmentContent {
  info: SegmentInfo
  /** The boxes `ftyp` and `moov`. */
  init: Uint8Array
  /** The fragments with pictures. */
  fragments: Fragment[]
  /** Number of bytes up to the end of the last complete fragment. */
  bytes: number
}

/** UUID of the box with the segment information. */
const INFO_UUID = Buffer.from('6579726965b25e6d656e742e61626f75', 'hex')
/** Seconds from the NTP epoch (1900) to 1970. */
const NTP_EPOCH_S = 2_208_988_800
/**
 * NTP seconds wrap around in 2036: values that would be before 1968 belong to the next era
 * (RFC 4330, section 3).
 */
const NTP_ERA_S = 2 ** 32
/** The earliest time that a `prft` box can contain, in 1968, in µs since 1970. */
const EARLIEST_TIME_US = (NTP_ERA_S / 2 - NTP_EPOCH_S) * 1e6
/** Flags of a `prft` box whose time is the capture time. */
const CAPTURE_TIME_FLAGS = 24
const BOX_HEADER_BYTES = 8
/** A file with a larger box, other than `mdat`, is not a segment. */
const MAX_METADATA_BOX_BYTES = 16 << 20

/** Creates the boxes before the first fragment. */
export function createSegmentHeader(
  info: SegmentInfo,
  track: PlayableTrack,
  sound?: SoundTrack,
): Buffer {
  return Buffer.concat([
    createInitSegment(track, sound),
    box('uuid', INFO_UUID, Buffer.from(JSON.stringify(info))),
  ])
}

/**
 * Creates a fragment. Times of units are relative to the file; `timeUs` is the capture
 * time of the first unit.
 */
export function createSegmentFragment(
  sequence: number,
  units: readonly AccessUnit[],
  timeUs: number,
  sounds: readonly SoundUnit[] = [],
): Buffer {
  return Buffer.concat([
    createReferenceTimeBox(timeUs, units[0]!.pts),
    createInterleavedFragment(sequence, units, sounds),
  ])
}

/**
 * Creates a ProducerReferenceTimeBox (`prft`) that maps `mediaTime` to wall-clock time. Times that
 * the box cannot contain are written as the earliest one that it can: a negative `mediaTime`, of a
 * first picture whose timestamp stepped back, and a wall-clock time before 1968.
 */
export function createReferenceTimeBox(timeUs: number, mediaTime: number): Buffer {
  const writtenUs = Math.max(timeUs, EARLIEST_TIME_US)
  const seconds = Math.floor(writtenUs / 1e6)
  const fraction = Math.round(((writtenUs - seconds * 1e6) * 2 ** 32) / 1e6)
  return fullBox(
    'prft',
    1,
    CAPTURE_TIME_FLAGS,
    u32(1, (seconds + NTP_EPOCH_S) % NTP_ERA_S, fraction),
    u64(Math.max(0, mediaTime)),
  )
}

/** Parses a file. Returns undefined if the file is not a segment. Throws if it cannot be read. */
export function readSegment(path: string): SegmentContent | undefined {
  const file = openSync(path, 'r')
  try {
    const read = (offset: number, length: number) => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
    }
    return parseBoxes(read, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

type ReadBytes = (offset: number, length: number) => Buffer

interface BoxPosition {
  type: string
  offset: number
  length: number
}

function parseBoxes(read: ReadBytes, size: number): SegmentContent | undefined {
  const fragments: Fragment[] = []
  let info: SegmentInfo | undefined
  let init: Uint8Array | undefined
  let completeBytes = 0
  let timeUs = 0
  /** The last `moof`, until its `mdat` follows. */
  let moof: (FragmentSamples & Pick<Fragment, 'offset'>) | undefined

  for (const { type, offset, length } of findBoxes(read, size)) {
    const end = offset + length
    switch (type) {
      case 'moov':
        init = read(0, end)
        break
      case 'uuid':
        info = parseInfo(read(offset + BOX_HEADER_BYTES, length - BOX_HEADER_BYTES))
        if (!info) return undefined
        completeBytes = end
        break
      case 'prft':
        timeUs = parseReferenceTime(read(offset, length))
        break
      case 'moof':
        moof = { offset, ...readSamples(read(offset, length), offset) }
        break
      case 'mdat':
        // The moof of a damaged fragment may list no pictures.
        if (moof?.pictures.length && info) {
          fragments.push({ ...moof, length: end - moof.offset, timeUs })
          completeBytes = end
        }
        moof = undefined
    }
  }

  return info && init ? { info, init, fragments, bytes: completeBytes } : undefined
}

/** Yields the complete boxes at the beginning of a file. */
function* findBoxes(read: ReadBytes, size: number): Generator<BoxPosition> {
  let offset = 0
  while (offset + BOX_HEADER_BYTES <= size) {
    const header = read(offset, BOX_HEADER_BYTES)
    const length = header.readUInt32BE(0)
    const type = header.toString('latin1', 4)
    if (length < BOX_HEADER_BYTES || offset + length > size) return
    if (type !== 'mdat' && length > MAX_METADATA_BOX_BYTES) return
    yield { type, offset, length }
    offset += length
  }
}

function parseInfo(body: Buffer): SegmentInfo | undefined {
  if (!body.subarray(0, INFO_UUID.length).equals(INFO_UUID)) return undefined
  try {
    return JSON.parse(body.toString('utf8', INFO_UUID.length))
  } catch {
    return undefined
  }
}

function parseReferenceTime(prft: Buffer): number {
  const ntpSeconds = prft.readUInt32BE(16)
  const ntpFraction = prft.readUInt32BE(20)

  const isNextEra = ntpSeconds < NTP_ERA_S / 2
  const seconds = ntpSeconds + (isNextEra ? NTP_ERA_S : 0) - NTP_EPOCH_S
  return seconds * 1e6 + Math.round((ntpFraction * 1e6) / 2 ** 32)
}
