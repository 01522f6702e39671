import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { box, fullBox, u32, u64 } from '@eyrie/kit/mp4-boxes'
import type { SoundTrack, SoundUnit } from '../../sound/sound-track.ts'
import { type AccessUnit, createInitSegment, createInterleavedFragment } from '../../stream/fmp4.ts'
import type { PlayableTrack } from '../../stream/sample-entry.ts'
import { readSamples, type Sample } from './fragment-samples.ts'

/**
 * A segment: a fragmented MP4 whose times begin at 0 with its first picture in decoding order, a box that says what it
 * is of, and then fragments, each behind a `prft` that says when its first picture was taken. So a file tells all that
 * the index knows, and is whole up to its last whole fragment, however its writer ended.
 */
export interface SegmentInfo {
  source: number
  /** Of media, and the stream time at time 0 of the file, in 90 kHz ticks. */
  epoch: number
  pts: number
  codecs: string
  width: number
  height: number
}

export interface Fragment {
  /** Of the `moof`; up to the end of the `mdat`. */
  offset: number
  length: number
  /** When the first picture in decoding order was taken, µs since 1970. */
  timeUs: number
  samples: Sample[]
  /** Of the sound; none where there is none. */
  sounds: Sample[]
}

export interface SegmentContent {
  info: SegmentInfo
  /** ftyp and moov. */
  init: Uint8Array
  fragments: Fragment[]
  /** All up to the last whole fragment. */
  bytes: number
}

const MARK = Buffer.from('6579726965b25e6d656e742e61626f75', 'hex')
/** From 1900, where NTP begins, to 1970. */
const NTP_EPOCH_S = 2_208_988_800
/** NTP's seconds begin again in 2036: what would lie before 1968 is of the time after that (RFC 4330, section 3). */
const NTP_ERA_S = 2 ** 32
/** A moof beyond this is none of ours. */
const MOST_INDEX_BYTES = 16 << 20

export function createSegmentHeader(about: SegmentInfo, track: PlayableTrack, sound?: SoundTrack): Buffer {
  return Buffer.concat([
    createInitSegment(track, sound),
    box('uuid', MARK, Buffer.from(JSON.stringify(about))),
  ])
}

/** Units with times of the file; `timeUs` is when the first was taken. */
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

/** ProducerReferenceTimeBox: `mediaTime` was captured at this moment (flags 24). */
export function createReferenceTimeBox(timeUs: number, mediaTime: number): Buffer {
  const seconds = Math.floor(timeUs / 1e6)
  const fraction = Math.round(((timeUs - seconds * 1e6) * 2 ** 32) / 1e6)
  return fullBox('prft', 1, 24, u32(1, (seconds + NTP_EPOCH_S) % NTP_ERA_S, fraction), u64(mediaTime))
}

/** What lies in a file; undefined where it is no segment. Throws where it cannot be read. */
export function readSegment(path: string): SegmentContent | undefined {
  const file = openSync(path, 'r')
  try {
    const read = (offset: number, length: number) => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
    }
    return walk(read, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

function walk(read: (offset: number, length: number) => Buffer, size: number): SegmentContent | undefined {
  const content: SegmentContent = { info: undefined!, init: new Uint8Array(), fragments: [], bytes: 0 }
  let timeUs = 0
  let moof: Pick<Fragment, 'offset' | 'samples' | 'sounds'> | undefined
  for (let offset = 0; offset + 8 <= size; ) {
    const head = read(offset, 8)
    const [length, type] = [head.readUInt32BE(0), head.toString('latin1', 4)]
    const end = offset + length
    if (length < 8 || end > size) break
    if (type !== 'mdat' && length > MOST_INDEX_BYTES) break
    if (type === 'moov') content.init = read(0, end)
    else if (type === 'uuid') {
      const about = parseAbout(read(offset + 8, length - 8))
      if (!about) return undefined
      content.info = about
      content.bytes = end
    } else if (type === 'prft') timeUs = timeOf(read(offset, length))
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

function parseAbout(body: Buffer): SegmentInfo | undefined {
  if (!body.subarray(0, 16).equals(MARK)) return undefined
  try {
    return JSON.parse(body.toString('utf8', 16))
  } catch {
    return undefined
  }
}

function timeOf(prft: Buffer): number {
  const told = prft.readUInt32BE(16)
  const seconds = told + (told < NTP_ERA_S / 2 ? NTP_ERA_S : 0) - NTP_EPOCH_S
  return seconds * 1e6 + Math.round((prft.readUInt32BE(20) * 1e6) / 2 ** 32)
}
