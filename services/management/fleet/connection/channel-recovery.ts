import { type Backoff, backoffDelayMs } from '@eyrie/kit'

/** Decides when failed channels are restarted. */
export interface ChannelRecovery {
  /** Returns the failed channels to restart at `now` (epoch ms), and counts an attempt for each of them. */
  claimDue(failed: readonly string[], now: number): string[]
}

interface Attempts {
  count: number
  /** Epoch ms of the next attempt. */
  nextAt: number
  /** Epoch ms at which the channel was last reported as failed. */
  failedAt: number
}

/** A channel that has run for this long has recovered: its next failure counts as the first. */
const RECOVERED_MS = 600_000

/** A first failure is retried at once, each further one after a longer delay. */
export function createChannelRecovery(backoff: Backoff, random?: () => number): ChannelRecovery {
  const attempts = new Map<string, Attempts>()
  return {
    claimDue(failed, now) {
      for (const [channel, { failedAt }] of attempts)
        if (now - failedAt > RECOVERED_MS) attempts.delete(channel)

      const due: string[] = []
      for (const channel of failed) {
        const { count, nextAt } = attempts.get(channel) ?? { count: 0, nextAt: now }
        if (now >= nextAt) {
          due.push(channel)
          const delayMs = backoffDelayMs(count, backoff, random)
          attempts.set(channel, { count: count + 1, nextAt: now + delayMs, failedAt: now })
        } else attempts.set(channel, { count, nextAt, failedAt: now })
      }
      return due
    },
  }
}
