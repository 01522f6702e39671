import type { SourceState } from '@eyrie/contract'
import { type Backoff, backoffDelayMs } from '@eyrie/kit'

/**
 * How a source plays: a camera is `endless`, and a file is either `looped` or played `once`. The
 * mode decides what follows the loss of the connection.
 */
export type PlayMode = 'endless' | 'looped' | 'once'

/** The state of a source's connection. Times are monotonic, in ms. */
export interface Lifecycle {
  readonly state: SourceState
  /**
   * What is wrong and what to do; undefined if the source works. A running source has a reason
   * while it is degraded.
   */
  readonly reason: string | undefined
  /**
   * Number of consecutive failures. The count restarts after a steady run and when the host
   * returns.
   */
  readonly failures: number
  /** Time of the next attempt to connect; undefined unless the source waits for it. */
  readonly nextAttemptAt: number | undefined
  readonly runningSince: number | undefined
  /** Whether the source has ended or failed permanently, so that no further attempt is made. */
  readonly isFinal: boolean
}

export type LifecycleEvent =
  /** Another attempt to connect or open the source has begun. */
  | { type: 'attempt' }
  /** The host accepts connections again after an outage, and another attempt has begun. */
  | { type: 'returned' }
  /** Data has arrived. */
  | { type: 'data' }
  /** The source runs with a problem, or without one if the reason is undefined. */
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

export const BACKOFF: Backoff = { initialMs: 500, maxMs: 15_000 }
/**
 * A source that has run for longer than this counts as recovered, and its back-off starts again.
 */
export const STEADY_MS = 10_000

export const INITIAL_STATE: Lifecycle = {
  state: 'connecting',
  reason: undefined,
  failures: 0,
  nextAttemptAt: undefined,
  runningSince: undefined,
  isFinal: false,
}

/** Returns the state after an event, without side effects. A final state never changes. */
export function transition(
  current: Lifecycle,
  event: LifecycleEvent,
  rules: LifecycleRules,
): Lifecycle {
  if (current.isFinal) return current
  switch (event.type) {
    case 'attempt':
      return { ...current, nextAttemptAt: undefined }
    case 'returned':
      // A camera that has just started may need some more attempts, soon after each other.
      return { ...current, nextAttemptAt: undefined, failures: 0 }
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
      return { ...INITIAL_STATE, state: 'ended', isFinal: true }
    case 'lost':
      return applyLoss(current, event, rules)
  }
}

/** Returns the state after the connection was lost or could not be opened. */
function applyLoss(
  current: Lifecycle,
  { reason, transient }: { reason: string; transient: boolean },
  { mode, now, random }: LifecycleRules,
): Lifecycle {
  const wasSteady = current.runningSince !== undefined && now - current.runningSince > STEADY_MS
  const failures = (wasSteady ? 0 : current.failures) + 1
  const isFinal = mode === 'once' && !transient
  const delayMs = backoffDelayMs(failures - 1, BACKOFF, random)

  return {
    state: mode === 'endless' ? 'reconnecting' : 'failed',
    reason,
    failures,
    nextAttemptAt: isFinal ? undefined : now + delayMs,
    runningSince: undefined,
    isFinal,
  }
}
