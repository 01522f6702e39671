import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Clock } from '../runtime/clock.ts'

/**
 * The position of a source in its stream time, which continues from one session to the next. The
 * main and the sub stream of a camera share one position, so that both have the same stream time.
 */
export interface StreamPosition {
  /** Must be called for each packet with the stream time at its end. */
  advanceTo(pts: number): void
  /**
   * Returns the stream time, in 90 kHz ticks, at which the next session begins: the end of the last
   * packet, plus the duration of the interruption for a live source.
   */
  nextPts(live: boolean): number
  /** Returns a stream time after the last packet. */
  endPts(): number
}

/** `beginPts` is the stream time at which the first session begins. */
export function createStreamPosition(beginPts: number, clock: Pick<Clock, 'now'>): StreamPosition {
  let endPts = beginPts
  let lastArrivalMs: number | undefined

  return {
    advanceTo(pts) {
      endPts = Math.max(endPts, pts)
      lastArrivalMs = clock.now()
    },
    nextPts(live) {
      if (!live || lastArrivalMs === undefined) return endPts
      const interruptionMs = clock.now() - lastArrivalMs
      return endPts + Math.round((interruptionMs * TICKS_PER_SECOND) / 1000)
    },
    endPts: () => endPts,
  }
}
