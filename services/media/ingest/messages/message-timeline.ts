import { TICKS_PER_SECOND } from '@eyrie/contract'

/** A sender that goes further than this beyond the clock has begun a time of its own. */
const LEAP_TICKS = 10 * TICKS_PER_SECOND

export interface MessageTimeline {
  /** The stream time of a message with the sender's `pts`: always greater than the one before. */
  next(pts: number): { pts: number; discontinuity: boolean }
  /** Stream time that is later than all that was. */
  endPts(): number
}

/**
 * Follows a sender's time from message to message, and takes the clock's where the sender was started anew.
 * `now` in ms of a clock that never jumps; `beginPts` is the stream time of the first message.
 */
export function createMessageTimeline(now: () => number, beginPts = 0): MessageTimeline {
  let last: { pts: number; own: number; at: number } | undefined
  return {
    next(pts) {
      const at = now()
      const passed = last ? Math.round(((at - last.at) * TICKS_PER_SECOND) / 1000) : 0
      const step = last ? pts - last.pts : 0
      const goesOn = last !== undefined && step > 0 && step - passed < LEAP_TICKS
      const own = last ? last.own + (goesOn ? step : Math.max(1, passed)) : beginPts
      last = { pts, own, at }
      return { pts: own, discontinuity: !goesOn }
    },
    endPts: () => (last ? last.own + 1 : beginPts),
  }
}
