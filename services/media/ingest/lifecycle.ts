import type { SourceState } from '@eyrie/contract'
import { type Backoff, backoffDelayMs } from '@eyrie/kit'

/** How a source comes to an end: never, only to begin again, or once. */
export type Nature = 'endless' | 'looped' | 'once'

/** Where a source is in its life. Times are ms of a clock that never jumps. */
export interface Lifecycle {
  readonly state: SourceState
  /** What is wrong and what to do; also of a source that runs, but not well. */
  readonly reason: string | undefined
  /** How often in a row it was lost without having run for a while. */
  readonly failures: number
  /** When it is tried again; undefined while it is being tried, or runs, or is over. */
  readonly nextTryAt: number | undefined
  readonly runningSince: number | undefined
  /** Nothing is tried any more. */
  readonly over: boolean
}

export type LifeEvent =
  /** It is connected to, or opened, once more. */
  | { type: 'tried' }
  /** Something came from it. */
  | { type: 'heard' }
  /** It runs, and this is wrong with it; undefined: nothing any more. */
  | { type: 'ails'; reason: string | undefined }
  /** `transient`: waiting may help without anybody's doing. */
  | { type: 'lost'; reason: string; transient: boolean }
  | { type: 'ended' }

export interface LifeRules {
  nature: Nature
  now: number
  /** 0 up to 1. */
  random: () => number
}

export const BACKOFF: Backoff = { initialMs: 500, maxMs: 30_000 }
/** A source that is lost sooner than this after it came back is waited for longer and longer. */
export const STEADY_MS = 10_000

export const born: Lifecycle = {
  state: 'connecting',
  reason: undefined,
  failures: 0,
  nextTryAt: undefined,
  runningSince: undefined,
  over: false,
}

/** What becomes of a source by what happens to it. What has ended, or failed for good, stays so. */
export function step(life: Lifecycle, event: LifeEvent, rules: LifeRules): Lifecycle {
  if (life.over) return life
  switch (event.type) {
    case 'tried':
      return { ...life, nextTryAt: undefined }
    case 'heard':
      if (life.state === 'running') return life
      return { ...life, state: 'running', reason: undefined, nextTryAt: undefined, runningSince: rules.now }
    case 'ails':
      return life.state === 'running' ? { ...life, reason: event.reason } : life
    case 'ended':
      return { ...born, state: 'ended', over: true }
    case 'lost':
      return lost(life, event, rules)
  }
}

function lost(
  life: Lifecycle,
  { reason, transient }: { reason: string; transient: boolean },
  { nature, now, random }: LifeRules,
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
