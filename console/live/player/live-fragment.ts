import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { findBox, IS_NON_SYNC_SAMPLE } from '../../video/mp4-boxes.ts'

/** Track id of sound in live streams. */
export const SOUND_TRACK = 2

/**
 * A fragment of a live MP4 stream (ISO/IEC 14496-12, section 8.8) with a single sample, which is
 * one video frame or one chunk of sound. Times are in ticks of the track.
 */
export interface Fragment {
  track: number
  /** Time at which the sample is decoded. */
  dts: number
  /**
   * Time at which the sample is presented. Frames may be decoded in another order
   * than they are presented.
   */
  pts: number
  duration: number
  isKeyframe: boolean
}

const FIELD_BYTES = 4
/** Size of the flags and the sample count, which precede the optional fields of `trun`. */
const FIXED_FIELDS_BYTES = 8

// Flags of `trun` that declare optional fields (ISO/IEC 14496-12, section 8.8.8).
const DATA_OFFSET = 0x1
const FIRST_SAMPLE_FLAGS = 0x4
const SAMPLE_DURATION = 0x100
const SAMPLE_SIZE = 0x200
const SAMPLE_FLAGS = 0x400
const SAMPLE_COMPOSITION_OFFSET = 0x800

// A fragment contains one box of each of these types: `moof` > `traf` > `tfhd`, `tfdt`, `trun`. The
// `tfhd` box has the track id, `tfdt` the decoding time, and `trun` (track run) the properties of
// the samples. Each starts with its version and its flags.

/** Extends the duration of every sample to at least `seconds`, in place. */
export function extendDuration(segment: ArrayBuffer, seconds: number): void {
  const trun = findBox(new DataView(segment), ['moof', 'traf', 'trun'])
  if (!trun) return
  const { present, firstSample, sampleBytes } = readLayout(trun)
  if ((present & SAMPLE_DURATION) === 0) return
  for (let offset = firstSample; offset < trun.byteLength; offset += sampleBytes) {
    trun.setUint32(offset, Math.max(trun.getUint32(offset), seconds * TICKS_PER_SECOND))
  }
}

/** Parses the fragment in a segment. Returns undefined for an initialization segment. */
export function parseFragment(segment: ArrayBuffer): Fragment | undefined {
  const traf = findBox(new DataView(segment), ['moof', 'traf'])
  const tfhd = traf && findBox(traf, ['tfhd'])
  const tfdt = traf && findBox(traf, ['tfdt'])
  const trun = traf && findBox(traf, ['trun'])
  if (!tfhd || !tfdt || !trun) return undefined

  // Version 1 of the box has 64-bit times.
  const dts = tfdt.getUint8(0) === 1 ? Number(tfdt.getBigUint64(4)) : tfdt.getUint32(4)
  const { duration, flags, compositionOffset } = readFirstSample(trun)
  return {
    track: tfhd.getUint32(4),
    dts,
    pts: dts + compositionOffset,
    duration,
    isKeyframe: (flags & IS_NON_SYNC_SAMPLE) === 0,
  }
}

/** Reads the fields of the first sample. A field that is not present is 0. */
function readFirstSample(trun: DataView) {
  const { present, firstSample } = readLayout(trun)
  let offset = firstSample
  const readField = (field: number) => {
    if ((present & field) === 0) return 0
    const content = trun.getInt32(offset)
    offset += FIELD_BYTES
    return content
  }

  // The fields follow each other in this order.
  const duration = readField(SAMPLE_DURATION)
  readField(SAMPLE_SIZE)
  const flags = readField(SAMPLE_FLAGS)
  const compositionOffset = readField(SAMPLE_COMPOSITION_OFFSET)
  return { duration, flags, compositionOffset }
}

/**
 * Returns the flags of the fields that are present, the offset of the first sample and
 * the size of one sample.
 */
function readLayout(trun: DataView) {
  // The highest byte is the version.
  const present = trun.getUint32(0) & 0xffffff
  const count = (fields: number[]) => fields.filter(field => present & field).length
  const sampleFields = [SAMPLE_DURATION, SAMPLE_SIZE, SAMPLE_FLAGS, SAMPLE_COMPOSITION_OFFSET]
  return {
    present,
    firstSample: FIXED_FIELDS_BYTES + FIELD_BYTES * count([DATA_OFFSET, FIRST_SAMPLE_FLAGS]),
    sampleBytes: FIELD_BYTES * count(sampleFields),
  }
}
