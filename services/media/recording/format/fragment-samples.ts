import { TFHD_BASE_IS_MOOF } from '@eyrie/kit/mp4-boxes'
import { getType, readIntactChildren } from './box-reader.ts'

// Reads and rewrites the `moof` box of a fragment: the index of its pictures and sound.
// stream/fmp4.ts writes it, with this structure:
//
//   moof
//     mfhd      sequence number of the fragment
//     traf      one per track
//       tfhd    track ID
//       tfdt    decode time of the first sample
//       trun    the samples: their durations, sizes, flags and composition offsets

/**
 * A coded picture or sound unit of a recorded segment. Times are in 90 kHz ticks from the
 * beginning of the file.
 */
export interface Sample {
  dts: number
  pts: number
  duration: number
  /** In bytes. */
  size: number
  keyframe: boolean
  /** Byte offset in the file. */
  offset: number
}

/** The samples of a fragment in decoding order. */
export interface FragmentSamples {
  pictures: Sample[]
  /** Empty for a segment without sound. */
  sounds: Sample[]
}

const SOUND_TRACK_ID = 2
/** Sample flag of a picture that is not a keyframe. */
const NON_SYNC_FLAG = 0x10000
/** The flags of a box share 32 bits with its version. */
const FLAGS_MASK = 0xffffff

/** Byte offsets of fields from the beginning of their box (ISO/IEC 14496-12). */
const MFHD_SEQUENCE = 12
const TFHD_FLAGS = 8
const TFHD_TRACK_ID = 12
const TFDT_TIME = 12
const TRUN_SAMPLE_COUNT = 12
const TRUN_DATA_OFFSET = 16
const TRUN_FIRST_ENTRY = 20

/** Byte offsets of fields from the beginning of an entry of `trun`, and the size of an entry. */
const ENTRY_DURATION = 0
const ENTRY_SIZE = 4
const ENTRY_FLAGS = 8
const ENTRY_COMPOSITION_OFFSET = 12
const ENTRY_BYTES = 16

/** Returns the samples of a `moof`. `moofOffset` is the byte offset of the `moof` in the file. */
export function readSamples(moof: Buffer, moofOffset: number): FragmentSamples {
  const pictures: Sample[] = []
  const sounds: Sample[] = []
  for (const run of findRuns(moof)) {
    const target = run.trackId === SOUND_TRACK_ID ? sounds : pictures
    target.push(...readRun(run, moofOffset))
  }
  return { pictures, sounds }
}

function readRun({ tfdt, trun }: TrackRun, moofOffset: number): Sample[] {
  const sampleCount = trun.readUInt32BE(TRUN_SAMPLE_COUNT)
  let dts = Number(tfdt.readBigUInt64BE(TFDT_TIME))
  let offset = moofOffset + trun.readUInt32BE(TRUN_DATA_OFFSET)
  let entry = TRUN_FIRST_ENTRY

  const samples: Sample[] = []
  for (let index = 0; index < sampleCount; index++) {
    const duration = trun.readUInt32BE(entry + ENTRY_DURATION)
    const size = trun.readUInt32BE(entry + ENTRY_SIZE)
    const keyframe = (trun.readUInt32BE(entry + ENTRY_FLAGS) & NON_SYNC_FLAG) === 0
    const pts = dts + trun.readInt32BE(entry + ENTRY_COMPOSITION_OFFSET)
    samples.push({ dts, pts, duration, size, keyframe, offset })

    dts += duration
    offset += size
    entry += ENTRY_BYTES
  }
  return samples
}

/** Changes to a fragment that is copied to another file. */
export interface Relocation {
  /** Sequence number in the new file. */
  sequence: number
  /** Ticks to add to all times. */
  shift: number
  /**
   * Ticks to add to the duration of the last picture, to close the gap to the next fragment.
   * Players stop at gaps.
   */
  extension: number
}

/** Rewrites a fragment (`moof` and `mdat`) in place for another file. */
export function relocateFragment(bytes: Buffer, { sequence, shift, extension }: Relocation): void {
  const moofLength = bytes.readUInt32BE(0)
  const moof = bytes.subarray(0, moofLength)
  const mfhd = readIntactChildren(moof).find(child => getType(child) === 'mfhd')
  mfhd?.writeUInt32BE(sequence, MFHD_SEQUENCE)

  for (const { trackId, tfdt, trun } of findRuns(moof)) {
    const time = Number(tfdt.readBigUInt64BE(TFDT_TIME)) + shift
    tfdt.writeBigUInt64BE(BigInt(Math.max(0, time)), TFDT_TIME)
    if (trackId !== SOUND_TRACK_ID) extendLastSample(trun, extension)
  }
}

function extendLastSample(trun: Buffer, ticks: number): void {
  const lastIndex = trun.readUInt32BE(TRUN_SAMPLE_COUNT) - 1
  const durationOffset = TRUN_FIRST_ENTRY + lastIndex * ENTRY_BYTES + ENTRY_DURATION
  trun.writeUInt32BE(trun.readUInt32BE(durationOffset) + ticks, durationOffset)
}

/** The boxes that describe the samples of one track. They share the memory of the `moof`. */
interface TrackRun {
  trackId: number
  tfdt: Buffer
  trun: Buffer
}

/**
 * Returns the runs of all tracks. Ends before a track with other flags than those of
 * stream/fmp4.ts, because its fields may be at other offsets, and before a damaged box.
 */
function findRuns(moof: Buffer): TrackRun[] {
  const runs: TrackRun[] = []
  for (const traf of readIntactChildren(moof)) {
    if (getType(traf) !== 'traf') continue

    const boxes = new Map(readIntactChildren(traf).map(child => [getType(child), child]))
    const tfhd = boxes.get('tfhd')
    const tfdt = boxes.get('tfdt')
    const trun = boxes.get('trun')
    if (!tfhd || !tfdt || !trun) break

    const flags = tfhd.readUInt32BE(TFHD_FLAGS) & FLAGS_MASK
    if (flags !== TFHD_BASE_IS_MOOF) break
    runs.push({ trackId: tfhd.readUInt32BE(TFHD_TRACK_ID), tfdt, trun })
  }
  return runs
}
