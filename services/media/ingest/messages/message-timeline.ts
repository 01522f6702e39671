import { TICKS_PER_SECOND } from '@eyrie/contract'

/** A sender whose time advances this much more than the clock has restarted its time. */
const MAX_LEAP_TICKS = 10 * TICKS_PER_SECOND

/** Converts a sender's time to stream time. */
export interface MessageTimeline {
  /** Returns the stream time of a message with the sender's `pts`, which is always greater than the previous one. */
  next(pts: number): { pts: number; discontinuity: boolean }
  /** Returns a stream time after the last message. */
  endPts(): number
}

/**
 * Follows the sender's time from message to message. Where that is discontinuous, such as after a restart of the sender, the
 * elapsed time is used. `now` returns monotonic time in ms; `beginPts` is the stream time of the first message.
 */
export function createMessageTimeline(now: () => number, beginPts = 0): MessageTimeline {
  let last: { senderPts: number; pts: number; at: number } | undefined

  return {
    next(senderPts) {
      const at = now()
      if (!last) {
        last = { senderPts, pts: beginPts, at }
        return { pts: beginPts, discontinuity: true }
      }
      const elapsed = Math.round(((at - last.at) * TICKS_PER_SECOND) / 1000)
      const step = senderPts - last.senderPts
      const isContinuous = step > 0 && step - elapsed < MAX_LEAP_TICKS
      const pts = last.pts + (isContinuous ? step : Math.max(1, elapsed))
      last = { senderPts, pts, at }
      return { pts, discontinuity: !isContinuous }
    },
    endPts: () => (last ? last.pts + 1 : beginPts),
  }
}
