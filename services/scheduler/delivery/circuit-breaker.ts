import { backoffDelayMs } from '@eyrie/kit'

/** Consecutive failures after which a target counts as down. */
const FAILURE_THRESHOLD = 5
/** Duration of a pause, which grows from one to the next. */
const PAUSE = { initialMs: 5_000, maxMs: 300_000 }

type BreakerState =
  /** Messages are sent. */
  | 'closed'
  /** No message is sent. */
  | 'open'
  /** One message is sent, to probe the target. */
  | 'half-open'

/**
 * Decides whether messages are sent to a target. After consecutive failures, the breaker opens. It
 * then permits one attempt after each pause, until an attempt succeeds.
 */
export interface CircuitBreaker {
  state(): BreakerState
  /** Time at which an open breaker becomes half-open, in ms of `now`. */
  readonly openUntil: number
  recordSuccess(): void
  recordFailure(): void
}

export function createCircuitBreaker(now: () => number, random = Math.random): CircuitBreaker {
  /** Number of consecutive failures. */
  let failures = 0
  /** Number of consecutive pauses; 0 while the breaker is closed. */
  let pauses = 0
  let openUntil = 0

  function getState(): BreakerState {
    if (pauses === 0) return 'closed'
    return now() < openUntil ? 'open' : 'half-open'
  }

  return {
    state: getState,
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
      if (failures < FAILURE_THRESHOLD || getState() === 'open') return
      openUntil = now() + backoffDelayMs(pauses, PAUSE, random)
      pauses += 1
    },
  }
}
