import { setTimeout as sleep } from 'node:timers/promises'

/** Time as the service sees it, so that tests can turn its hands. */
export interface Clock {
  /** Wall clock, ms since 1970. */
  wall(): number
  /** ms that never jump, from any beginning. */
  now(): number
  /** Rejects with an AbortError when the signal fires first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}
