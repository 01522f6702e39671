import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { box, fullBox, u32, u64 } from '@eyrie/kit/mp4-boxes'
import type { SoundTrack, SoundUnit } from '../../sound/sound-track.ts'
import { type AccessUnit, createInitSegment, createInterleavedFragment } from '../../stream/fmp4.ts'
import type { PlayableTrack } from '../../stream/sample-entry.ts'
import { readSamples, type Sample } from './fragment-samples.ts'

/**
 * A segment is a fragmented MP4 file: init segment, a `uuid` box with this information as JSON, and fragments, each preceded by a
 * `prft` box with the capture time of its first picture. Times begin at 0 with the first picture in decoding order. The index can
 * be rebuilt from such files, and they are playable up to the last complete fragment after a crash.
 */
export interface SegmentInfo {
  source: number
  /** Stream time at time 0 of the file: epoch of media, and 90 kHz ticks. */
  epoch: number
  pts: number
  codecs: string
  width: number
  height: number
}

export interface Fragment {
  /** Byte offset of the `moof`, and length up to the end of the `mdat`. */
  offset: number
  length: number
  /** Capture time of the first picture in decoding order, µs since 1970. */
  timeUs: number
  samples: Sample[]
  /** Empty for a segment without sound. */
  sounds: Sample[]
}

export interface SegmentContent {
  info: SegmentInfo
  /** ftyp and moov. */
  init: Uint8Array
  fragments: Fragment[]
  /** Length up to the last complete fragment. */
  bytes: number
}

/** UUID of the box with the segment information. */
const INFO_UUID = Buffer.from('6579726965b25e6d656e742e61626f75', 'hex')
/** Seconds from the NTP epoch (1900) to 1970. */
const NTP_EPOCH_S = 2_208_988_800
/** NTP seconds wrap around in 2036: values that would be before 1968 belong to the next era (RFC 4330, section 3). */
const NTP_ERA_S = 2 ** 32
/** Boxes other than mdat that are larger belong to no segment of this format. */
const MAX_METADATA_BOX_BYTES = 16 << 20

export function createSegmentHeader(about: SegmentInfo, track: PlayableTrack, sound?: SoundTrack): Buffer {
  return Buffer.concat([
    createInitSegment(track, sound),
    box('uuid', INFO_UUID, Buffer.from(JSON.stringify(about))),
  ])
}

/** Creates a fragment. Unit times are relative to the file; `timeUs` is the capture time of the first unit. */
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

/** Creates a ProducerReferenceTimeBox (`prft`, flags 24: capture time) that maps `mediaTime` to wall-clock time. */
export function createReferenceTimeBox(timeUs: number, mediaTime: number): Buffer {
  const seconds = Math.floor(timeUs / 1e6)
  const fraction = Math.round(((timeUs - seconds * 1e6) * 2 ** 32) / 1e6)
  return fullBox('prft', 1, 24, u32(1, (seconds + NTP_EPOCH_S) % NTP_ERA_S, fraction), u64(mediaTime))
}

/** Parses a file. Returns undefined if it is not a segment. Throws if it cannot be read. */
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

function parseBoxes(
  read: (offset: number, length: number) => Buffer,
  size: number,
): SegmentContent | undefined {
  const content: SegmentContent = { info: undefined!, init: new Uint8Array(), fragments: [], bytes: 0 }
  let timeUs = 0
  let moof: Pick<Fragment, 'offset' | 'samples' | 'sounds'> | undefined
  for (let offset = 0; offset + 8 <= size; ) {
    const head = read(offset, 8)
    const length = head.readUInt32BE(0)
    const type = head.toString('latin1', 4)
    const end = offset + length
    if (length < 8 || end > size) break
    if (type !== 'mdat' && length > MAX_METADATA_BOX_BYTES) break
    if (type === 'moov') content.init = read(0, end)
    else if (type === 'uuid') {
      const about = parseInfo(read(offset + 8, length - 8))
      if (!about) return undefined
      content.info = about
      content.bytes = end
    } else if (type === 'prft') timeUs = parseReferenceTime(read(offset, length))
    else if (type === 'moof') moof = { offset, ...readSamples(read(offset, length), offset) }
    else if (type === 'mdat' && moof && content.info) {
      content.fragments.push({ ...moof, length: end - moof.offset, timeUs })
      content.bytes = end
      moof = undefined
    }
    offset = end
  }
  return content.info && content.init.length > 0 ? content : undefined
}

function parseInfo(body: Buffer): SegmentInfo | undefined {
  if (!body.subarray(0, 16).equals(INFO_UUID)) return undefined
  try {
    return JSON.parse(body.toString('utf8', 16))
  } catch {
    return undefined
  }
}

function parseReferenceTime(prft: Buffer): number {
  const ntpSeconds = prft.readUInt32BE(16)
  const seconds = ntpSeconds + (ntpSeconds < NTP_ERA_S / 2 ? NTP_ERA_S : 0) - NTP_EPOCH_S
  return seconds * 1e6 + Math.round((prft.readUInt32BE(20) * 1e6) / 2 ** 32)
}
