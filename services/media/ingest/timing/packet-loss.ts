import type { Reception } from './rtp-statistics.ts'

/** The share of packets that a network loses. */
export interface LossMeter {
  /** Answers the share, 0 to 1, over the time since it last answered; undefined until enough time has passed. */
  measure(reception: Reception, now: number): number | undefined
}

const OVER_MS = 5000

/** `now` in ms of a clock that never jumps. */
export function createLossMeter(now: number): LossMeter {
  let last = { at: now, received: 0, lost: 0 }
  return {
    measure({ received, lost }, at) {
      if (at - last.at < OVER_MS) return undefined
      const [came, went] = [received - last.received, Math.max(0, lost - last.lost)]
      last = { at, received, lost }
      return came + went > 0 ? went / (came + went) : undefined
    },
  }
}
