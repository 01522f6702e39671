import type { FrameData } from '@eyrie/contract/output'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/** A position in a stream: `pts` in 90 kHz ticks, counted from the start of the epoch. */
export interface StreamTime {
  epoch: number
  pts: number
}

/** The analysis results of one frame. */
export interface FrameMetadata extends StreamTime, Pick<FrameData, 'objects' | 'counters'> {}

export interface MetadataMatch {
  metadata: FrameMetadata
  /** The metadata belongs to the requested frame, not to an earlier one. */
  exact: boolean
}

/**
 * Frames are at least 1000 ticks apart (90 a second), and a browser reports media time to within one tick. Half a
 * millisecond therefore covers every rounding error and never reaches the neighbouring frame.
 */
const TOLERANCE_TICKS = 45
/** Older boxes would no longer match the positions of the objects. */
const MAX_AGE_TICKS = 1 * TICKS_PER_SECOND
const DEFAULT_RETENTION_TICKS = 10 * TICKS_PER_SECOND

/** The metadata of the last seconds of one epoch, in order of pts. A new epoch replaces the old one. */
export interface MetadataBuffer {
  add(metadata: FrameMetadata): void
  /** Returns the metadata of the frame, otherwise the latest before it within a second; never that of a later frame. */
  find(time: StreamTime): MetadataMatch | undefined
}

export function createMetadataBuffer(retentionTicks = DEFAULT_RETENTION_TICKS): MetadataBuffer {
  let frames: FrameMetadata[] = []
  return {
    add(metadata) {
      const newest = frames.at(-1)
      if (newest && newest.epoch !== metadata.epoch) frames = []
      const index = frames.findLastIndex(({ pts }) => pts <= metadata.pts) + 1
      frames.splice(index, 0, metadata)
      const expired = frames.findIndex(({ pts }) => pts >= metadata.pts - retentionTicks)
      frames.splice(0, expired)
    },

    find({ epoch, pts }) {
      const metadata = frames.findLast(frame => frame.pts <= pts + TOLERANCE_TICKS)
      if (!metadata || metadata.epoch !== epoch || metadata.pts < pts - MAX_AGE_TICKS) return undefined
      return { metadata, exact: metadata.pts >= pts - TOLERANCE_TICKS }
    },
  }
}
