import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Frame } from './frame.ts'

/**
 * The time of the frame that an element processes. Elements should measure durations with it, not
 * with the clock of the machine: the result must be the same if a recording is analysed faster than
 * it was filmed, or a busy machine analyses it more slowly.
 */
export interface StreamClock {
  /**
   * Stream time in seconds, monotonic across loops and reconnects of the source, and across
   * restarts of the media service. 0 before the first frame.
   */
  readonly seconds: number
  /**
   * Capture time in milliseconds since 1970-01-01 UTC, as for `new Date(…)`. 0 before the first
   * frame.
   */
  readonly time: number
}

/** What the clock of new code needs to continue the stream time of the code that it replaces. */
export interface ClockState {
  /** Stream time of the last frame. */
  readonly seconds: number
  /**
   * Seconds added to the timestamps of frames, which begin anew when the media service restarts.
   */
  readonly offset: number
}

const MICROSECONDS_PER_MS = 1000

/** The clock of one element, as the code that runs the element uses it. */
export interface AdjustableClock {
  readonly clock: StreamClock
  /** Sets the clock to the time of the frame that is processed next. */
  advance(frame: Pick<Frame, 'pts' | 'time' | 'discontinuity'>): void
  save(): ClockState
  restore(state: ClockState): void
}

/** Creates the clock of one element. */
export function createStreamClock(): AdjustableClock {
  let seconds = 0
  let time = 0
  let offset = 0
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
      const streamSeconds = frame.pts / TICKS_PER_SECOND
      if (frame.discontinuity && streamSeconds + offset < seconds) offset = seconds - streamSeconds
      // When a camera corrects its clock, the timestamps step back once.
      seconds = Math.max(seconds, streamSeconds + offset)
      time = frame.time / MICROSECONDS_PER_MS
    },
    save: () => ({ seconds, offset }),
    restore(state) {
      seconds = state.seconds
      offset = state.offset
    },
  }
}
