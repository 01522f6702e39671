import { TFHD_BASE_IS_MOOF } from '@eyrie/kit/mp4-boxes'

/** One coded picture or piece of sound. Times in 90 kHz ticks from the file's beginning, `offset` in bytes from there. */
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
const IS_NO_KEYFRAME = 0x10000
/** Where fields lie, from the four letters of their box on. */
const AT = {
  mfhd: { sequence: 8 },
  tfhd: { flags: 4, track: 8 },
  tfdt: { time: 8 },
  trun: { count: 8, dataOffset: 12, samples: 16 },
} as const

/** Where the boxes of a track lie in a moof as `fragment` makes it: one run, all fields. */
interface Run {
  track: number
  tfdt: number
  trun: number
}

function runsIn(moof: Buffer): Run[] {
  const runs: Run[] = []
  for (let tfhd = moof.indexOf('tfhd'); tfhd >= 0; ) {
    const isOurs = (moof.readUInt32BE(tfhd + AT.tfhd.flags) & 0xffffff) === TFHD_BASE_IS_MOOF
    const [tfdt, trun] = [moof.indexOf('tfdt', tfhd), moof.indexOf('trun', tfhd)]
    if (!isOurs || tfdt < 0 || trun < 0) break
    runs.push({ track: moof.readUInt32BE(tfhd + AT.tfhd.track), tfdt, trun })
    tfhd = moof.indexOf('tfhd', trun + AT.trun.samples + countOf(moof, trun) * SAMPLE_BYTES)
  }
  return runs
}

const countOf = (moof: Buffer, trun: number) => moof.readUInt32BE(trun + AT.trun.count)

/** What a moof that lies at this offset of its file describes. */
export function readSamples(moof: Buffer, moofOffset: number): { samples: Sample[]; sounds: Sample[] } {
  const runs = runsIn(moof)
  const of = (isWanted: (run: Run) => boolean) =>
    runs.filter(isWanted).flatMap(run => samplesOf(moof, run, moofOffset))
  return { samples: of(({ track }) => track !== SOUND), sounds: of(({ track }) => track === SOUND) }
}

function samplesOf(moof: Buffer, { tfdt, trun }: Run, moofOffset: number): Sample[] {
  let dts = Number(moof.readBigUInt64BE(tfdt + AT.tfdt.time))
  let offset = moofOffset + moof.readUInt32BE(trun + AT.trun.dataOffset)
  return Array.from({ length: countOf(moof, trun) }, (_, i) => {
    const at = trun + AT.trun.samples + i * SAMPLE_BYTES
    const [duration, size] = [moof.readUInt32BE(at), moof.readUInt32BE(at + 4)]
    const keyframe = (moof.readUInt32BE(at + 8) & IS_NO_KEYFRAME) === 0
    const sample = { dts, pts: dts + moof.readInt32BE(at + 12), duration, size, keyframe, offset }
    dts += duration
    offset += size
    return sample
  })
}

export interface Relocation {
  /** The fragment's number in the other file. */
  sequence: number
  /** Ticks by which all in it is later there. */
  shift: number
  /** Ticks by which its last picture lasts longer: a player takes what is missing between two for an end. */
  longer: number
}

/** Makes a fragment, which begins with its moof, part of another file. */
export function relocateFragment(bytes: Buffer, { sequence, shift, longer }: Relocation): void {
  const moof = bytes.subarray(0, bytes.readUInt32BE(0))
  moof.writeUInt32BE(sequence, moof.indexOf('mfhd') + AT.mfhd.sequence)
  for (const { track, tfdt, trun } of runsIn(moof)) {
    const time = Number(moof.readBigUInt64BE(tfdt + AT.tfdt.time)) + shift
    moof.writeBigUInt64BE(BigInt(Math.max(0, time)), tfdt + AT.tfdt.time)
    if (track === SOUND) continue
    const last = trun + AT.trun.samples + (countOf(moof, trun) - 1) * SAMPLE_BYTES
    moof.writeUInt32BE(moof.readUInt32BE(last) + longer, last)
  }
}
