import { backoffDelayMs } from '@eyrie/kit'

/** Consecutive failures after which a target counts as down. */
const FAILURE_THRESHOLD = 5
const PAUSE = { initialMs: 5_000, maxMs: 300_000 }

/**
 * Decides whether messages are sent to a target. After consecutive failures, the breaker opens. It
 * then permits one attempt after each pause, until an attempt succeeds.
 */
export interface CircuitBreaker {
  /**
   * `closed`: messages are sent. `open`: no message is sent. `half-open`: one message is sent,
   * to probe the target.
   */
  state(): 'closed' | 'open' | 'half-open'
  /** Time at which an open breaker becomes half-open, in ms since 1970. */
  readonly openUntil: number
  recordSuccess(): void
  recordFailure(): void
}

export function createCircuitBreaker(now: () => number, random = Math.random): CircuitBreaker {
  let failures = 0
  let pauses = 0
  let openUntil = 0
  return {
    state() {
      if (pauses === 0) return 'closed'
      return now() < openUntil ? 'open' : 'half-open'
    },
    get openUntil() {
      return openUntil
    },
    recordSuccess() {
      failures = 0
      pauses = 0
    },
    recordFailure() {
      failures += 1
      // Messages that were already being sent when the breaker opened do not count as probes.
      const isOpen = pauses > 0 && now() < openUntil
      if (failures < FAILURE_THRESHOLD || isOpen) return
      openUntil = now() + backoffDelayMs(pauses, PAUSE, random)
      pauses += 1
    },
  }
}
