/** Exponential back-off between attempts: the delay starts at `initialMs` and doubles up to `maxMs`. */
export interface Backoff {
  initialMs: number
  maxMs: number
}

/**
 * The delay after failed attempt number `attempt` (from 0), in ms. The upper half is random, so that clients that lost
 * the same server do not reconnect at the same moment. `random` returns a number from 0 to 1.
 */
export function backoffDelayMs(
  attempt: number,
  { initialMs, maxMs }: Backoff,
  random: () => number = Math.random,
): number {
  const delayMs = Math.min(maxMs, initialMs * 2 ** attempt)
  return delayMs * (0.5 + random() / 2)
}
