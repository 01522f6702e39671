import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SoundTrack, SoundUnit } from './sound-track.ts'

/** Pieces of silence in a track's own coding, for as long as its source is silent. */
export interface Silence {
  /** What follows on the last piece, up to what is heard at this time. */
  fillTo(pts: number): SoundUnit[]
}

const LOW_COMPLEXITY = 2
const FRAME_SAMPLES = 1024
/** Raw data blocks of AAC-LC in which nothing is to be heard (ISO/IEC 14496-3, 4.4.2.1), by the number of channels. */
const FRAMES: Record<number, Uint8Array> = {
  1: Buffer.from('00c800802380', 'hex'),
  2: Buffer.from('210049900219002380', 'hex'),
}

/** From this time on. Undefined where it cannot be told how silence is coded. */
export function createSilence(
  { rate, channels, configuration }: SoundTrack,
  from: number,
): Silence | undefined {
  const data = FRAMES[channels]
  if (!data || configuration[0]! >> 3 !== LOW_COMPLEXITY) return undefined
  let made = 0
  const begins = () => from + Math.round((made * FRAME_SAMPLES * TICKS_PER_SECOND) / rate)

  return {
    fillTo(pts) {
      const units: SoundUnit[] = []
      for (let begin = begins(); begin <= pts; begin = begins()) {
        made++
        units.push({ pts: begin, duration: begins() - begin, data })
      }
      return units
    },
  }
}
