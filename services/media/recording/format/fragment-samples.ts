import { TFHD_BASE_IS_MOOF } from '@eyrie/kit/mp4-boxes'

/**
 * A coded picture or sound unit of a recorded segment, as the `moof` box (the index of a fragment)
 * describes it. Times are in 90 kHz ticks from the beginning of the file.
 */
export interface Sample {
  dts: number
  pts: number
  duration: number
  size: number
  keyframe: boolean
  /** Byte offset in the file. */
  offset: number
}

const SOUND_TRACK_ID = 2
/** Size of a `trun` entry with duration, size, flags and composition offset. */
const SAMPLE_BYTES = 16
/** Sample flag of a picture that is not a keyframe. */
const NON_SYNC_FLAG = 0x10000
/** The flags of a box share 32 bits with its version. */
const FLAGS_MASK = 0xffffff
/** Offsets of fields in boxes (ISO/IEC 14496-12), relative to the four letters of the box type. */
const OFFSETS = {
  mfhd: { sequence: 8 },
  tfhd: { flags: 4, track: 8 },
  tfdt: { time: 8 },
  trun: { count: 8, dataOffset: 12, samples: 16 },
} as const

/**
 * Returns the pictures (`samples`) and the sound units (`sounds`) in a `moof`, which is at
 * `moofOffset` in the file.
 */
export function readSamples(
  moof: Buffer,
  moofOffset: number,
): { samples: Sample[]; sounds: Sample[] } {
  const samples: Sample[] = []
  const sounds: Sample[] = []
  for (const run of findRuns(moof)) {
    const target = run.track === SOUND_TRACK_ID ? sounds : samples
    target.push(...readRun(moof, run, moofOffset))
  }
  return { samples, sounds }
}

function readRun(moof: Buffer, { tfdt, trun }: TrackRun, moofOffset: number): Sample[] {
  const sampleCount = readSampleCount(moof, trun)
  let dts = Number(moof.readBigUInt64BE(tfdt + OFFSETS.tfdt.time))
  let offset = moofOffset + moof.readUInt32BE(trun + OFFSETS.trun.dataOffset)
  let entry = trun + OFFSETS.trun.samples

  const samples: Sample[] = []
  for (let index = 0; index < sampleCount; index++) {
    const duration = moof.readUInt32BE(entry)
    const size = moof.readUInt32BE(entry + 4)
    const keyframe = (moof.readUInt32BE(entry + 8) & NON_SYNC_FLAG) === 0
    const compositionOffset = moof.readInt32BE(entry + 12)
    samples.push({ dts, pts: dts + compositionOffset, duration, size, keyframe, offset })

    dts += duration
    offset += size
    entry += SAMPLE_BYTES
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
  const moof = bytes.subarray(0, bytes.readUInt32BE(0))
  moof.writeUInt32BE(sequence, moof.indexOf('mfhd') + OFFSETS.mfhd.sequence)
  for (const { track, tfdt, trun } of findRuns(moof)) {
    const timeOffset = tfdt + OFFSETS.tfdt.time
    const time = Number(moof.readBigUInt64BE(timeOffset)) + shift
    moof.writeBigUInt64BE(BigInt(Math.max(0, time)), timeOffset)
    if (track === SOUND_TRACK_ID) continue

    // The duration is the first field of an entry.
    const lastEntry = trun + OFFSETS.trun.samples + (readSampleCount(moof, trun) - 1) * SAMPLE_BYTES
    moof.writeUInt32BE(moof.readUInt32BE(lastEntry) + extension, lastEntry)
  }
}

/**
 * Offsets of a track's boxes in a `moof`: `tfdt` has the start time, `trun` the list of samples.
 * stream/fmp4.ts writes one `trun` with all fields per track.
 */
interface TrackRun {
  track: number
  tfdt: number
  trun: number
}

/**
 * Returns the runs of all tracks. Boxes are found by the four letters of their type. Ends before a
 * track with other flags than those of stream/fmp4.ts, because its fields may be at other offsets.
 */
function findRuns(moof: Buffer): TrackRun[] {
  const runs: TrackRun[] = []
  let tfhd = moof.indexOf('tfhd')
  while (tfhd >= 0) {
    const flags = moof.readUInt32BE(tfhd + OFFSETS.tfhd.flags) & FLAGS_MASK
    const hasKnownFlags = flags === TFHD_BASE_IS_MOOF
    const tfdt = moof.indexOf('tfdt', tfhd)
    const trun = moof.indexOf('trun', tfhd)
    if (!hasKnownFlags || tfdt < 0 || trun < 0) break

    runs.push({ track: moof.readUInt32BE(tfhd + OFFSETS.tfhd.track), tfdt, trun })
    const trunEnd = trun + OFFSETS.trun.samples + readSampleCount(moof, trun) * SAMPLE_BYTES
    tfhd = moof.indexOf('tfhd', trunEnd)
  }
  return runs
}

const readSampleCount = (moof: Buffer, trun: number) => moof.readUInt32BE(trun + OFFSETS.trun.count)
