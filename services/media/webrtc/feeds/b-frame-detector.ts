import type { Stream } from '../../stream/live-stream.ts'

/** Detects streams with B-frames. WebRTC receivers would show their pictures in decoding order. */
export interface BFrameDetector {
  /** Whether the stream has shown B-frames since its last change of codec configuration. */
  hasBFrames(stream: Stream): boolean
  markReordered(stream: Stream): void
}

export function createBFrameDetector(): BFrameDetector {
  /** The codec configuration with which B-frames were detected. */
  const reordered = new WeakMap<Stream, Uint8Array>()

  function markReordered(stream: Stream) {
    const track = stream.track()
    if (track) reordered.set(stream, track.avcC)
  }

  return {
    hasBFrames(stream) {
      const avcC = stream.track()?.avcC
      if (!avcC) return false
      // Detection is remembered because a GOP that has just begun shows no reordering yet.
      if (reordered.get(stream) !== avcC && isReordered(stream)) markReordered(stream)
      return reordered.get(stream) === avcC
    },
    markReordered,
  }
}

function isReordered(stream: Stream): boolean {
  const monotonic = createMonotonicPts()
  return stream.cachedUnits().some(({ pts }) => monotonic.next(pts) === undefined)
}

/**
 * Makes presentation times increase. A single step back comes from the correction of a camera's clock (by its audio/video
 * offset) and is smoothed over; several within two seconds mean that pictures are coded out of display order (B-frames).
 */
export interface MonotonicPts {
  /** Returns a time later than all previous ones, or undefined if pictures are out of display order. */
  next(pts: number): number | undefined
}

const MAX_STEPS_BACK = 3
const STEP_WINDOW_TICKS = 2 * 90_000

export function createMonotonicPts(): MonotonicPts {
  let stepsBack: number[] = []
  let previous = Number.NEGATIVE_INFINITY
  let newest = Number.NEGATIVE_INFINITY

  return {
    next(pts) {
      if (pts < previous)
        stepsBack = [...stepsBack.filter(step => Math.abs(pts - step) < STEP_WINDOW_TICKS), pts]
      previous = pts
      if (stepsBack.length >= MAX_STEPS_BACK) return undefined
      newest = Math.max(pts, newest + 1)
      return newest
    },
  }
}
