import { TFHD_BASE_IS_MOOF } from '@eyrie/kit/mp4-boxes'

/** One coded picture or sound unit. Times in 90 kHz ticks and `offset` in bytes, both from the beginning of the file. */
export interface Sample {
  dts: number
  pts: number
  duration: number
  size: number
  keyframe: boolean
  offset: number
}

const SOUND = 2
const SAMPLE_BYTES = 16
const NON_SYNC_FLAG = 0x10000
/** Offsets of fields, relative to the four letters of the box type. */
const OFFSETS = {
  mfhd: { sequence: 8 },
  tfhd: { flags: 4, track: 8 },
  tfdt: { time: 8 },
  trun: { count: 8, dataOffset: 12, samples: 16 },
} as const

/** Offsets of a track's boxes in a moof from stream/fmp4.ts, which has one `trun` per track with all fields. */
interface TrackRun {
  track: number
  tfdt: number
  trun: number
}

function findRuns(moof: Buffer): TrackRun[] {
  const runs: TrackRun[] = []
  for (let tfhd = moof.indexOf('tfhd'); tfhd >= 0; ) {
    const isOurs = (moof.readUInt32BE(tfhd + OFFSETS.tfhd.flags) & 0xffffff) === TFHD_BASE_IS_MOOF
    const tfdt = moof.indexOf('tfdt', tfhd)
    const trun = moof.indexOf('trun', tfhd)
    if (!isOurs || tfdt < 0 || trun < 0) break
    runs.push({ track: moof.readUInt32BE(tfhd + OFFSETS.tfhd.track), tfdt, trun })
    tfhd = moof.indexOf('tfhd', trun + OFFSETS.trun.samples + readSampleCount(moof, trun) * SAMPLE_BYTES)
  }
  return runs
}

const readSampleCount = (moof: Buffer, trun: number) => moof.readUInt32BE(trun + OFFSETS.trun.count)

/** Reads the samples that a moof describes. `moofOffset` is its offset in the file. */
export function readSamples(moof: Buffer, moofOffset: number): { samples: Sample[]; sounds: Sample[] } {
  const samples: Sample[] = []
  const sounds: Sample[] = []
  for (const run of findRuns(moof)) {
    const target = run.track === SOUND ? sounds : samples
    target.push(...readRun(moof, run, moofOffset))
  }
  return { samples, sounds }
}

function readRun(moof: Buffer, { tfdt, trun }: TrackRun, moofOffset: number): Sample[] {
  let dts = Number(moof.readBigUInt64BE(tfdt + OFFSETS.tfdt.time))
  let offset = moofOffset + moof.readUInt32BE(trun + OFFSETS.trun.dataOffset)
  return Array.from({ length: readSampleCount(moof, trun) }, (_, i) => {
    const entry = trun + OFFSETS.trun.samples + i * SAMPLE_BYTES
    const duration = moof.readUInt32BE(entry)
    const size = moof.readUInt32BE(entry + 4)
    const keyframe = (moof.readUInt32BE(entry + 8) & NON_SYNC_FLAG) === 0
    const sample = { dts, pts: dts + moof.readInt32BE(entry + 12), duration, size, keyframe, offset }
    dts += duration
    offset += size
    return sample
  })
}

export interface Relocation {
  /** Sequence number in the new file. */
  sequence: number
  /** Ticks to add to all times. */
  shift: number
  /** Ticks to add to the duration of the last picture: players stop at a gap between two fragments. */
  extension: number
}

/** Rewrites a fragment (moof and mdat) in place for another file. */
export function relocateFragment(bytes: Buffer, { sequence, shift, extension }: Relocation): void {
  const moof = bytes.subarray(0, bytes.readUInt32BE(0))
  moof.writeUInt32BE(sequence, moof.indexOf('mfhd') + OFFSETS.mfhd.sequence)
  for (const { track, tfdt, trun } of findRuns(moof)) {
    const time = Number(moof.readBigUInt64BE(tfdt + OFFSETS.tfdt.time)) + shift
    moof.writeBigUInt64BE(BigInt(Math.max(0, time)), tfdt + OFFSETS.tfdt.time)
    if (track === SOUND) continue
    const last = trun + OFFSETS.trun.samples + (readSampleCount(moof, trun) - 1) * SAMPLE_BYTES
    moof.writeUInt32BE(moof.readUInt32BE(last) + extension, last)
  }
}
