import { TICKS_PER_SECOND } from '@eyrie/contract'

/**
 * If the sender's time advances this much more than the clock, the sender has restarted its time.
 */
const MAX_LEAP_TICKS = 10 * TICKS_PER_SECOND

/**
 * Converts the `pts` of a sender's messages to stream time, which never goes backwards. Both are
 * counted in 90 kHz ticks.
 */
export interface MessageTimeline {
  /**
   * Returns the stream time of the next message, which is greater than that of the previous
   * message.
   */
  next(senderPts: number): { pts: number; discontinuity: boolean }
  /** Returns a stream time after the last message. */
  endPts(): number
}

/**
 * Stream time advances as the sender's time does. If the sender's time jumps, for example because
 * the sender has restarted, stream time advances by the elapsed time instead. `nowMs` returns
 * monotonic time; `beginPts` is the stream time of the first message.
 */
export function createMessageTimeline(nowMs: () => number, beginPts = 0): MessageTimeline {
  let last: { senderPts: number; pts: number; receivedAtMs: number } | undefined

  return {
    next(senderPts) {
      const receivedAtMs = nowMs()
      if (!last) {
        last = { senderPts, pts: beginPts, receivedAtMs }
        return { pts: beginPts, discontinuity: true }
      }

      const elapsedTicks = Math.round(
        ((receivedAtMs - last.receivedAtMs) * TICKS_PER_SECOND) / 1000,
      )
      const step = senderPts - last.senderPts
      const isContinuous = step > 0 && step - elapsedTicks < MAX_LEAP_TICKS

      const pts = last.pts + (isContinuous ? step : Math.max(1, elapsedTicks))
      last = { senderPts, pts, receivedAtMs }
      return { pts, discontinuity: !isContinuous }
    },
    endPts: () => (last ? last.pts + 1 : beginPts),
  }
}
