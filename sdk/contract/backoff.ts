/**
 * Exponential back-off: the delay starts at `initialMs` and doubles with each
 * attempt, up to `maxMs`.
 */
export interface Backoff {
  initialMs: number
  maxMs: number
}

/**
 * Returns the delay in milliseconds before the next attempt to connect. `attempt` counts from 0.
 * Half of the delay is random, so that clients that lost their connection at the same time do not
 * reconnect at the same time.
 */
export function backoffDelayMs(
  attempt: number,
  { initialMs, maxMs }: Backoff,
  random = Math.random,
): number {
  const delayMs = Math.min(maxMs, initialMs * 2 ** attempt)
  const half = delayMs / 2
  return half + half * random()
}
