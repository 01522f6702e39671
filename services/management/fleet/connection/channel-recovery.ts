import { type Backoff, backoffDelayMs } from '@eyrie/kit'

/**
 * Decides when failed channels are restarted: the first time at once, then with increasing delays.
 */
export interface ChannelRecovery {
  /**
   * Returns the failed channels that are due for a restart, and counts an attempt for each.
   * `nowMs` is monotonic, because the wall clock may be set back.
   */
  claimRestarts(failedChannels: readonly string[], nowMs?: number): string[]
}

/** All times in ms since the start of the process. */
interface RestartAttempts {
  count: number
  nextAttemptMs: number
  /** The last time at which the channel was reported as failed. */
  lastFailureMs: number
}

/**
 * A channel without a failure for this long has recovered: its next failure counts as the first.
 */
const RECOVERED_AFTER_MS = 600_000

export function createChannelRecovery(backoff: Backoff, random?: () => number): ChannelRecovery {
  const attemptsByChannel = new Map<string, RestartAttempts>()

  function deleteRecovered(nowMs: number): void {
    for (const [channel, { lastFailureMs }] of attemptsByChannel) {
      if (nowMs - lastFailureMs > RECOVERED_AFTER_MS) attemptsByChannel.delete(channel)
    }
  }

  /** Returns whether a failed channel is due for a restart, and counts the attempt if so. */
  function claimRestart(channel: string, nowMs: number): boolean {
    const { count, nextAttemptMs } = attemptsByChannel.get(channel) ?? {
      count: 0,
      nextAttemptMs: nowMs,
    }
    if (nowMs < nextAttemptMs) {
      attemptsByChannel.set(channel, { count, nextAttemptMs, lastFailureMs: nowMs })
      return false
    }

    attemptsByChannel.set(channel, {
      count: count + 1,
      nextAttemptMs: nowMs + backoffDelayMs(count, backoff, random),
      lastFailureMs: nowMs,
    })
    return true
  }

  return {
    claimRestarts(failedChannels, nowMs = performance.now()) {
      deleteRecovered(nowMs)
      return failedChannels.filter(channel => claimRestart(channel, nowMs))
    },
  }
}
