import type { FrameData } from '@eyrie/contract/output'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/** What was found in the frame with this pts. */
export interface FrameMetadata extends Pick<FrameData, 'objects' | 'counters'> {
  pts: number
  epoch: number
}

export interface Match {
  metadata: FrameMetadata
  /** It belongs to the frame asked for, not to one before it. */
  exact: boolean
}

/**
 * Frames are at least 1000 ticks apart (90 a second) and a browser's media time is good to a tick, so half a
 * millisecond tells one frame from the next and forgives every rounding on the way.
 */
const TOLERANCE_TICKS = 45
/** Older boxes would lie beside what they belong to. */
const MAX_AGE_TICKS = 1 * TICKS_PER_SECOND
const KEPT_TICKS = 10 * TICKS_PER_SECOND

/** The metadata of the last seconds of one epoch, by pts. */
export interface MetadataBuffer {
  add(metadata: FrameMetadata): void
  /** The frame's own metadata, else the latest before it within a second; never that of a later frame. */
  find(epoch: number, pts: number): Match | undefined
}

export function createMetadataBuffer(keptTicks = KEPT_TICKS): MetadataBuffer {
  let frames: FrameMetadata[] = []
  return {
    add(metadata) {
      const last = frames.at(-1)
      if (last && last.epoch !== metadata.epoch) frames = []
      const later = frames.findLastIndex(({ pts }) => pts <= metadata.pts) + 1
      frames.splice(later, 0, metadata)
      const outdated = frames.findIndex(({ pts }) => pts >= metadata.pts - keptTicks)
      frames.splice(0, outdated)
    },

    find(epoch, pts) {
      const metadata = frames.findLast(frame => frame.pts <= pts + TOLERANCE_TICKS)
      if (!metadata || metadata.epoch !== epoch || metadata.pts < pts - MAX_AGE_TICKS) return undefined
      return { metadata, exact: metadata.pts >= pts - TOLERANCE_TICKS }
    },
  }
}
