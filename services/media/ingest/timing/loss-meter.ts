import type { Reception } from './rtp-statistics.ts'

/** Measures the share of RTP packets that are lost on the network. */
export interface LossMeter {
  /**
   * Returns the share of packets lost, 0 to 1, since the previous result; undefined until five
   * seconds have passed.
   */
  measure(reception: Reception, nowMs: number): number | undefined
}

const LOSS_INTERVAL_MS = 5000

/** Starts a measurement. `nowMs` is monotonic time. */
export function createLossMeter(nowMs: number): LossMeter {
  let previous = { measuredAtMs: nowMs, received: 0, lost: 0 }
  return {
    measure({ received, lost }, measuredAtMs) {
      if (measuredAtMs - previous.measuredAtMs < LOSS_INTERVAL_MS) return undefined

      const newlyReceived = received - previous.received
      const newlyLost = Math.max(0, lost - previous.lost)
      previous = { measuredAtMs, received, lost }

      const total = newlyReceived + newlyLost
      return total > 0 ? newlyLost / total : undefined
    },
  }
}
