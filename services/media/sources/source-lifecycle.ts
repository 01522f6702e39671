import type { SourceState } from '@eyrie/contract'
import { type Backoff, backoffDelayMs } from '@eyrie/kit'

/** How a source ends: never, by starting over, or once. */
export type Nature = 'endless' | 'looped' | 'once'

/** The state of a source's connection. Times are monotonic, in ms. */
export interface Lifecycle {
  readonly state: SourceState
  /** What is wrong and what to do. Also set for a running source that is degraded. */
  readonly reason: string | undefined
  /** Consecutive failures without a steady run between them. */
  readonly failures: number
  /** Time of the next attempt; undefined while an attempt is under way, the source runs, or it is over. */
  readonly nextTryAt: number | undefined
  readonly runningSince: number | undefined
  /** Ended or failed for good: no further attempt is made. */
  readonly over: boolean
}

export type LifecycleEvent =
  /** Another attempt to connect or open it has begun. */
  | { type: 'tried' }
  /** Data has arrived. */
  | { type: 'heard' }
  /** The source runs with a problem; undefined clears the problem. */
  | { type: 'degraded'; reason: string | undefined }
  /** `transient`: the source may recover by itself. */
  | { type: 'lost'; reason: string; transient: boolean }
  | { type: 'ended' }

export interface LifecycleRules {
  nature: Nature
  now: number
  /** 0 up to 1. */
  random: () => number
}

export const BACKOFF: Backoff = { initialMs: 500, maxMs: 30_000 }
/** A source that is lost within this time after it came back counts as failing again, with a longer back-off. */
export const STEADY_MS = 10_000

export const initialState: Lifecycle = {
  state: 'connecting',
  reason: undefined,
  failures: 0,
  nextTryAt: undefined,
  runningSince: undefined,
  over: false,
}

/** Returns the state after an event. A state that is over never changes. */
export function transition(life: Lifecycle, event: LifecycleEvent, rules: LifecycleRules): Lifecycle {
  if (life.over) return life
  switch (event.type) {
    case 'tried':
      return { ...life, nextTryAt: undefined }
    case 'heard':
      if (life.state === 'running') return life
      return { ...life, state: 'running', reason: undefined, nextTryAt: undefined, runningSince: rules.now }
    case 'degraded':
      return life.state === 'running' ? { ...life, reason: event.reason } : life
    case 'ended':
      return { ...initialState, state: 'ended', over: true }
    case 'lost':
      return lost(life, event, rules)
  }
}

function lost(
  life: Lifecycle,
  { reason, transient }: { reason: string; transient: boolean },
  { nature, now, random }: LifecycleRules,
): Lifecycle {
  const steady = life.runningSince !== undefined && now - life.runningSince > STEADY_MS
  const failures = (steady ? 0 : life.failures) + 1
  const forGood = nature === 'once' && !transient
  return {
    state: nature === 'endless' ? 'reconnecting' : 'failed',
    reason,
    failures,
    nextTryAt: forGood ? undefined : now + backoffDelayMs(failures - 1, BACKOFF, random),
    runningSince: undefined,
    over: forGood,
  }
}
