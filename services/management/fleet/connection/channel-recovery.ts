import { type Backoff, backoffDelayMs } from '@eyrie/kit'

/** Says which failed channels are to be started again now. */
export interface Recovery {
  /** Of the channels that have failed at this moment (ms), those whose turn it is. */
  due(failed: readonly string[], now: number): string[]
}

/** A channel that has not failed for so long has recovered: the next failure is its first again. */
const STEADY_MS = 600_000

/** The first failure is answered at once, each further one after a longer wait. */
export function createRecovery(backoff: Backoff, random?: () => number): Recovery {
  const attempts = new Map<string, { count: number; next: number; seen: number }>()
  return {
    due(failed, now) {
      for (const [channel, { seen }] of attempts) if (now - seen > STEADY_MS) attempts.delete(channel)
      return failed.filter(channel => {
        const { count, next } = attempts.get(channel) ?? { count: 0, next: now }
        const isDue = now >= next
        attempts.set(channel, {
          count: isDue ? count + 1 : count,
          next: isDue ? now + backoffDelayMs(count, backoff, random) : next,
          seen: now,
        })
        return isDue
      })
    },
  }
}
