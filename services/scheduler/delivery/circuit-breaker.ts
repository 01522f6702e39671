import { backoffDelayMs } from '@eyrie/kit'

/** Consecutive failures after which a target counts as down. */
const FAILURE_THRESHOLD = 5
const PAUSE = { initialMs: 5_000, maxMs: 300_000 }

/**
 * Decides whether messages are sent to a target. It opens after consecutive failures, and permits one attempt after each
 * pause, until an attempt succeeds.
 */
export interface CircuitBreaker {
  /** closed: messages are sent; open: none is sent; half-open: one is sent to find out whether the target works again. */
  state(): 'closed' | 'open' | 'half-open'
  /** When an open breaker becomes half-open, in epoch ms. */
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
      // Messages that were under way when it opened say nothing new.
      const isOpen = pauses > 0 && now() < openUntil
      if (failures < FAILURE_THRESHOLD || isOpen) return
      openUntil = now() + backoffDelayMs(pauses, PAUSE, random)
      pauses += 1
    },
  }
}
