import type { FrameData } from '@eyrie/contract/output'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/**
 * A position in a stream. An epoch is an uninterrupted part of the stream, and `pts` is the time
 * since its start in 90 kHz ticks.
 */
export interface StreamTime {
  epoch: number
  pts: number
}

/** The analysis results of one frame. */
export interface FrameMetadata extends StreamTime, Pick<FrameData, 'objects' | 'counters'> {}

export interface MetadataMatch {
  metadata: FrameMetadata
  /** Whether the metadata belongs to a picture of the same moment rather than to an earlier one. */
  exact: boolean
}

/**
 * Maximum difference between the pts of a frame and the pts of its metadata, five milliseconds. If
 * the sub stream of a camera is analysed, the pts of its pictures differ by a few milliseconds from
 * those of the main stream, which is shown. At 90 frames per second, the distance between two
 * frames is 1000 ticks.
 */
export const TOLERANCE_TICKS = 450
/**
 * Maximum age of metadata when it is shown, one second. In an older frame, the objects are
 * in different places.
 */
const MAX_AGE_TICKS = TICKS_PER_SECOND
const DEFAULT_RETENTION_TICKS = 10 * TICKS_PER_SECOND

/**
 * Holds the metadata of the last seconds of one epoch. The first metadata of a new
 * epoch clears the buffer.
 */
export interface MetadataBuffer {
  add(metadata: FrameMetadata): void
  /**
   * Returns the metadata of the picture of the same moment. If it has no metadata, returns the
   * metadata of the nearest earlier frame, at most one second older.
   */
  find(time: StreamTime): MetadataMatch | undefined
}

export function createMetadataBuffer(retentionTicks = DEFAULT_RETENTION_TICKS): MetadataBuffer {
  /** In ascending order of pts. */
  let frames: FrameMetadata[] = []

  return {
    add(metadata) {
      const newest = frames.at(-1)
      if (newest && newest.epoch !== metadata.epoch) frames = []
      const index = frames.findLastIndex(({ pts }) => pts <= metadata.pts) + 1
      frames.splice(index, 0, metadata)

      const minPts = metadata.pts - retentionTicks
      const firstRetained = frames.findIndex(({ pts }) => pts >= minPts)
      frames.splice(0, firstRetained)
    },

    find({ epoch, pts }) {
      const index = frames.findLastIndex(frame => frame.pts <= pts + TOLERANCE_TICKS)
      const metadata = selectNearest(pts, frames[index], frames[index - 1])
      if (!metadata || metadata.epoch !== epoch) return undefined
      if (metadata.pts < pts - MAX_AGE_TICKS) return undefined
      return { metadata, exact: metadata.pts >= pts - TOLERANCE_TICKS }
    },
  }
}

/** Returns the frame whose pts is nearer. */
function selectNearest(
  pts: number,
  later: FrameMetadata | undefined,
  earlier: FrameMetadata | undefined,
): FrameMetadata | undefined {
  if (!later || !earlier) return later
  return pts - earlier.pts < later.pts - pts ? earlier : later
}
