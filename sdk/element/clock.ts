import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Frame } from './frame.ts'

/**
 * The time of the frame that an element processes. Measure durations with it: a recording may be
 * analysed faster than it was filmed, and a busy machine slower, but the result must be the same.
 */
export interface StreamClock {
  /**
   * Stream time in seconds, monotonic across loops and reconnects of the source. 0
   * before the first frame.
   */
  readonly seconds: number
  /**
   * Capture time in milliseconds since 1970-01-01 UTC, as `new Date(…)` takes it. 0
   * before the first frame.
   */
  readonly time: number
}

const MICROSECONDS_PER_MS = 1000

/**
 * Creates the clock of one element, and the function that sets it to the frame that is processed
 * next.
 */
export function createStreamClock(): {
  clock: StreamClock
  advance(frame: Pick<Frame, 'pts' | 'time'>): void
} {
  let seconds = 0
  let time = 0
  return {
    clock: {
      get seconds() {
        return seconds
      },
      get time() {
        return time
      },
    },
    advance(frame) {
      seconds = frame.pts / TICKS_PER_SECOND
      time = frame.time / MICROSECONDS_PER_MS
    },
  }
}
