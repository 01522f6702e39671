import { setTimeout as sleep } from 'node:timers/promises'

/** Provides the time to the media service. Tests use a clock that they control. */
export interface Clock {
  /** Returns the wall clock, in ms since 1970. */
  wall(): number
  /** Returns monotonic time, in ms since an arbitrary moment. */
  now(): number
  /** Resolves after `ms`. Rejects with an `AbortError` if the signal fires first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The clock of the operating system. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}

/** Converts µs since 1970 to an ISO 8601 time in UTC. */
export const toIsoTime = (us: number) => new Date(us / 1000).toISOString()
