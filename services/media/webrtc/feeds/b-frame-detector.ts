import type { Stream } from '../../stream/live-stream.ts'
import { createMonotonicPts } from './monotonic-pts.ts'

/**
 * Detects streams with B-frames: pictures that refer to later ones, so that decoding order
 * differs from display order. WebRTC cannot carry them, because receivers would show the
 * pictures in decoding order.
 */
export interface BFrameDetector {
  /**
   * Returns whether the stream has had B-frames since its codec configuration last changed.
   * Remembers a positive result.
   */
  hasBFrames(stream: Stream): boolean
  /** Records that the stream has B-frames in its current codec configuration. */
  markReordered(stream: Stream): void
}

export function createBFrameDetector(): BFrameDetector {
  /** Codec configuration with which B-frames were detected, by stream. */
  const reorderedConfigurations = new WeakMap<Stream, Uint8Array>()

  function markReordered(stream: Stream) {
    const track = stream.track()
    if (track) reorderedConfigurations.set(stream, track.avcC)
  }

  return {
    hasBFrames(stream) {
      const avcC = stream.track()?.avcC
      if (!avcC) return false
      if (reorderedConfigurations.get(stream) === avcC) return true
      const isReordered = isCurrentGroupReordered(stream)
      // The next group of pictures has no B-frames at its beginning, so the result is stored.
      if (isReordered) markReordered(stream)
      return isReordered
    },
    markReordered,
  }
}

/** Checks the cached pictures since the last keyframe. */
function isCurrentGroupReordered(stream: Stream): boolean {
  const monotonic = createMonotonicPts()
  return stream.cachedUnits().some(({ pts }) => monotonic.next(pts) === undefined)
}
