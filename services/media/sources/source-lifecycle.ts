import type { SourceState } from '@eyrie/contract'
import { type Backoff, backoffDelayMs } from '@eyrie/kit'

/** How a source plays: `endless` like a camera, or a file, either `looped` or played `once`. */
export type PlayMode = 'endless' | 'looped' | 'once'

/** The state of a source's connection. Times are monotonic, in ms. */
export interface Lifecycle {
  readonly state: SourceState
  /** What is wrong and what to do. Also set for a running source that is degraded. */
  readonly reason: string | undefined
  /** Consecutive failures without a steady run between them. */
  readonly failures: number
  /** Time of the next attempt; undefined during an attempt, while the source runs, and in a final state. */
  readonly nextAttemptAt: number | undefined
  readonly runningSince: number | undefined
  /** The source has ended or failed permanently: no further attempt is made. */
  readonly isFinal: boolean
}

export type LifecycleEvent =
  /** Another attempt to connect or open the source has begun. */
  | { type: 'attempt' }
  /** Data has arrived. */
  | { type: 'data' }
  /** The source runs with a problem; undefined clears the problem. */
  | { type: 'degraded'; reason: string | undefined }
  /** `transient`: the source may recover by itself. */
  | { type: 'lost'; reason: string; transient: boolean }
  | { type: 'ended' }

export interface LifecycleRules {
  mode: PlayMode
  now: number
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number
}

export const BACKOFF: Backoff = { initialMs: 500, maxMs: 30_000 }
/** A source that is lost within this time after it recovered has failed again, and the back-off continues to grow. */
export const STEADY_MS = 10_000

export const initialState: Lifecycle = {
  state: 'connecting',
  reason: undefined,
  failures: 0,
  nextAttemptAt: undefined,
  runningSince: undefined,
  isFinal: false,
}

/** Returns the state after an event. A final state never changes. */
export function transition(current: Lifecycle, event: LifecycleEvent, rules: LifecycleRules): Lifecycle {
  if (current.isFinal) return current
  switch (event.type) {
    case 'attempt':
      return { ...current, nextAttemptAt: undefined }
    case 'data':
      if (current.state === 'running') return current
      return {
        ...current,
        state: 'running',
        reason: undefined,
        nextAttemptAt: undefined,
        runningSince: rules.now,
      }
    case 'degraded':
      return current.state === 'running' ? { ...current, reason: event.reason } : current
    case 'ended':
      return { ...initialState, state: 'ended', isFinal: true }
    case 'lost':
      return afterLoss(current, event, rules)
  }
}

function afterLoss(
  current: Lifecycle,
  { reason, transient }: { reason: string; transient: boolean },
  { mode, now, random }: LifecycleRules,
): Lifecycle {
  const wasSteady = current.runningSince !== undefined && now - current.runningSince > STEADY_MS
  const failures = (wasSteady ? 0 : current.failures) + 1
  const isFinal = mode === 'once' && !transient
  return {
    state: mode === 'endless' ? 'reconnecting' : 'failed',
    reason,
    failures,
    nextAttemptAt: isFinal ? undefined : now + backoffDelayMs(failures - 1, BACKOFF, random),
    runningSince: undefined,
    isFinal,
  }
}
