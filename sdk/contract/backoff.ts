/** Exponential back-off: the delay starts at `initialMs` and doubles with each attempt, up to `maxMs`. */
export interface Backoff {
  initialMs: number
  maxMs: number
}

/**
 * Returns the delay before the next attempt, in ms; `attempt` counts from 0. The upper half of the delay is random, so that
 * clients which lost the same connection do not retry at the same moment. `random` returns a number from 0 to 1.
 */
export function backoffDelayMs(
  attempt: number,
  { initialMs, maxMs }: Backoff,
  random: () => number = Math.random,
): number {
  const delayMs = Math.min(maxMs, initialMs * 2 ** attempt)
  return delayMs * (0.5 + random() / 2)
}
