import { TICKS_PER_SECOND } from '@eyrie/contract'

/**
 * Makes presentation times strictly increasing. A single step back is a correction of the camera's
 * clock and is smoothed. Three steps back within two seconds mean that the pictures are in decoding
 * order, which differs from the display order (B-frames).
 */
export interface MonotonicPts {
  /**
   * Returns a time after all previous times, in 90 kHz ticks. Returns undefined as soon as B-frames
   * are detected, and for every later picture.
   */
  next(pts: number): number | undefined
}

/** Number of steps back within the window that mean B-frames. */
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
