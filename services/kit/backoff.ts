/** How long to wait between attempts: from `firstMs`, doubled each time, to `mostMs`. */
export interface Backoff {
  initialMs: number
  maxMs: number
}

/**
 * Wait before attempt number `attempt` + 1, in ms: exponential, with the upper half left to chance, so that many who
 * lost the same thing do not come back at the same moment. `random` answers 0 up to 1.
 */
export function backoffDelayMs(
  attempt: number,
  { initialMs, maxMs }: Backoff,
  random: () => number = Math.random,
): number {
  const stepMs = Math.min(maxMs, initialMs * 2 ** attempt)
  return stepMs * (0.5 + random() / 2)
}
