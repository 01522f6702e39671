import { setTimeout as sleep } from 'node:timers/promises'

/** The service's source of time. Tests replace it. */
export interface Clock {
  /** Returns the wall clock, in ms since 1970. */
  wall(): number
  /** Returns monotonic time, in ms since an arbitrary moment. */
  now(): number
  /** Rejects with an `AbortError` when the signal fires first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}
