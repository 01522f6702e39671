import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SoundTrack, SoundUnit } from './sound-track.ts'

/** A sequence of silent frames in the codec of a track. */
export interface Silence {
  /** Returns the frames that follow the last call, up to the one that begins at or before `pts`. */
  fillTo(pts: number): SoundUnit[]
}

const LOW_COMPLEXITY = 2
const FRAME_SAMPLES = 1024
/** Silent raw data blocks of AAC-LC (ISO/IEC 14496-3, 4.4.2.1) by number of channels. */
const SILENT_FRAMES: Record<number, Uint8Array> = {
  1: Buffer.from('00c800802380', 'hex'),
  2: Buffer.from('210049900219002380', 'hex'),
}

/** Starts silence at `startPts`. Returns undefined for other profiles than AAC-LC and for more than two channels. */
export function createSilence(
  { rate, channels, configuration }: SoundTrack,
  startPts: number,
): Silence | undefined {
  const data = SILENT_FRAMES[channels]
  if (!data || configuration[0]! >> 3 !== LOW_COMPLEXITY) return undefined
  let frames = 0
  /** Computed from the number of frames, so that rounding errors do not add up. */
  const getNextPts = () => startPts + Math.round((frames * FRAME_SAMPLES * TICKS_PER_SECOND) / rate)

  return {
    fillTo(pts) {
      const units: SoundUnit[] = []
      for (let unitPts = getNextPts(); unitPts <= pts; unitPts = getNextPts()) {
        frames++
        units.push({ pts: unitPts, duration: getNextPts() - unitPts, data })
      }
      return units
    },
  }
}
