import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Stream } from '../../stream/live-stream.ts'

/**
 * Detects streams with B-frames: pictures that refer to later ones, so that decoding order differs from display order. WebRTC
 * cannot carry them, because receivers would show the pictures in decoding order.
 */
export interface BFrameDetector {
  /** Returns whether the stream has had B-frames since its codec configuration last changed. Remembers a positive result. */
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

/**
 * Makes presentation times strictly increasing. A single step back is a correction of the camera's clock and is smoothed.
 * Three steps back within two seconds mean that the pictures are in decoding order, which differs from the display order
 * (B-frames).
 */
export interface MonotonicPts {
  /**
   * Returns a time after all previous times, in 90 kHz ticks. Returns undefined as soon as B-frames are detected, and for
   * every later picture.
   */
  next(pts: number): number | undefined
}

const MIN_REORDERED_STEPS = 3
const STEP_WINDOW_TICKS = 2 * TICKS_PER_SECOND

export function createMonotonicPts(): MonotonicPts {
  /** Times of the pictures that were earlier than the one before them. */
  let recentSteps: number[] = []
  let isReordered = false
  let previous = Number.NEGATIVE_INFINITY
  let newest = Number.NEGATIVE_INFINITY

  function recordStepBack(pts: number) {
    recentSteps = recentSteps.filter(step => Math.abs(pts - step) < STEP_WINDOW_TICKS)
    recentSteps.push(pts)
    if (recentSteps.length >= MIN_REORDERED_STEPS) isReordered = true
  }

  return {
    next(pts) {
      if (pts < previous) recordStepBack(pts)
      previous = pts
      if (isReordered) return undefined
      newest = Math.max(pts, newest + 1)
      return newest
    },
  }
}
