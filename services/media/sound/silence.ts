import { TICKS_PER_SECOND } from '@eyrie/contract'
import { parseObjectType, type SoundTrack, type SoundUnit } from './sound-track.ts'

/** A sequence of silent AAC frames, for gaps in a sound track. */
export interface Silence {
  /** Returns the next frames, up to and including the last one that begins at or before `pts`. */
  fillTo(pts: number): SoundUnit[]
}

/** Audio object type of AAC-LC (ISO/IEC 14496-3, 1.5.1.1). */
const AAC_LC = 2
/** Number of samples in a frame of AAC-LC. */
const FRAME_SAMPLES = 1024
/** Silent raw data blocks of AAC-LC (ISO/IEC 14496-3, 4.4.2.1), by number of channels. */
const SILENT_FRAMES: Record<number, Uint8Array> = {
  1: Buffer.from('00c800802380', 'hex'),
  2: Buffer.from('210049900219002380', 'hex'),
}

/**
 * Creates silence that begins at `startPts`. Returns undefined unless the track is AAC-LC with
 * one or two channels.
 */
export function createSilence(track: SoundTrack, startPts: number): Silence | undefined {
  const { rate, channels } = track
  const data = SILENT_FRAMES[channels]
  if (!data || parseObjectType(track) !== AAC_LC) return undefined

  let frameCount = 0
  // Computed from the number of frames, so that rounding errors do not accumulate.
  const getNextPts = () =>
    startPts + Math.round((frameCount * FRAME_SAMPLES * TICKS_PER_SECOND) / rate)

  return {
    fillTo(pts) {
      const units: SoundUnit[] = []
      for (let unitPts = getNextPts(); unitPts <= pts; unitPts = getNextPts()) {
        frameCount++
        units.push({ pts: unitPts, duration: getNextPts() - unitPts, data })
      }
      return units
    },
  }
}
