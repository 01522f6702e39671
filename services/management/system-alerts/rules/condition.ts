import type { Presence } from './observation.ts'

/** How long a failure must be present before an alert opens, and absent before the alert closes. */
export interface HoldOff {
  openAfterMs: number
  closeAfterMs: number
  /**
   * A failure that begins this often within `flapWindowMs` is flapping: its alert opens at once,
   * and closes only when the failure has been absent for `flapWindowMs`.
   */
  flapCount: number
  flapWindowMs: number
}

/** The history of an observed failure, which may have become an alert. Times are in epoch ms. */
export interface Condition {
  /** When the failure was observed for the first time. */
  beganMs: number
  lastSeenMs: number
  /** Since when the failure has been present without interruption; undefined while it is absent. */
  presentSinceMs: number | undefined
  /** Since when the failure has been absent; undefined while it is present. */
  absentSinceMs: number | undefined
  /** The times at which the failure last began, oldest first; at most `flapCount`. */
  onsetsMs: readonly number[]
  /** How often the failure was absent for a while, but not long enough to close the alert. */
  interruptions: number
  /** Whether the failure has opened an alert. */
  isOpen: boolean
}

export interface Transition {
  /** Undefined if the failure is over and need not be tracked any longer. */
  condition: Condition | undefined
  change?: 'opened' | 'closed'
}

/** An observation of the failure at a time, and the times for which it must last. */
export interface ConditionInput {
  presence: Presence
  nowMs: number
  holdOff: HoldOff
}

/**
 * Returns the condition after an observation. Nothing changes while the presence of the failure is
 * unknown, for example because its engine is offline.
 */
export function advance(
  previous: Condition | undefined,
  { presence, nowMs, holdOff }: ConditionInput,
): Transition {
  switch (presence) {
    case 'present':
      return observePresence(previous, nowMs, holdOff)
    case 'absent':
      return observeAbsence(previous, nowMs, holdOff)
    case 'unknown':
      return { condition: previous }
  }
}

function observePresence(
  previous: Condition | undefined,
  nowMs: number,
  holdOff: HoldOff,
): Transition {
  const condition = recordPresence(previous, nowMs, holdOff)
  if (condition.isOpen) return { condition }

  const presentMs = nowMs - (previous?.presentSinceMs ?? nowMs)
  const opens = presentMs >= holdOff.openAfterMs || isFlapping(condition, nowMs, holdOff)
  return opens ? { condition: { ...condition, isOpen: true }, change: 'opened' } : { condition }
}

/** Adds the presence of the failure at a time to its history. */
function recordPresence(
  previous: Condition | undefined,
  nowMs: number,
  { flapCount }: HoldOff,
): Condition {
  if (!previous) {
    return {
      beganMs: nowMs,
      lastSeenMs: nowMs,
      presentSinceMs: nowMs,
      absentSinceMs: undefined,
      onsetsMs: [nowMs],
      interruptions: 0,
      isOpen: false,
    }
  }
  const isInterrupted = previous.presentSinceMs === undefined
  if (!isInterrupted) return { ...previous, lastSeenMs: nowMs }
  return {
    ...previous,
    lastSeenMs: nowMs,
    presentSinceMs: nowMs,
    absentSinceMs: undefined,
    onsetsMs: [...previous.onsetsMs, nowMs].slice(-flapCount),
    interruptions: previous.interruptions + 1,
  }
}

function observeAbsence(
  previous: Condition | undefined,
  nowMs: number,
  holdOff: HoldOff,
): Transition {
  if (!previous) return { condition: undefined }
  const absentSinceMs = previous.absentSinceMs ?? nowMs
  const condition = { ...previous, presentSinceMs: undefined, absentSinceMs }
  // A failure without an alert is tracked for as long as it may turn out to be flapping.
  const mayFlap = !previous.isOpen || isFlapping(condition, nowMs, holdOff)
  const trackedForMs = mayFlap ? holdOff.flapWindowMs : holdOff.closeAfterMs
  if (nowMs - absentSinceMs < trackedForMs) return { condition }
  return previous.isOpen ? { condition: undefined, change: 'closed' } : { condition: undefined }
}

/** Returns whether the failure has begun `flapCount` times within `flapWindowMs`. */
function isFlapping(
  { onsetsMs }: Condition,
  nowMs: number,
  { flapCount, flapWindowMs }: HoldOff,
): boolean {
  const [oldestMs] = onsetsMs
  if (oldestMs === undefined || onsetsMs.length < flapCount) return false
  return nowMs - oldestMs <= flapWindowMs
}
