/** How long a failure must last, and must have ended, before an alert is opened or closed. */
export interface HoldOff {
  /** A failure that lasts this long becomes an alert. */
  openAfterMs: number
  /** An alert ends when the failure was absent for this long. */
  closeAfterMs: number
  /** A failure that begins this often within `flapWindowMs` flaps: it becomes an alert at once, and ends after that time. */
  flapCount: number
  flapWindowMs: number
}

/** A failure that was observed, and may have become an alert. Times are epoch ms. */
export interface Condition {
  /** When the failure was observed for the first time. */
  beganMs: number
  lastSeenMs: number
  /** Since when it has been observed without interruption; undefined while it is absent. */
  presentSinceMs: number | undefined
  /** Since when it has been absent; undefined while it is present. */
  absentSinceMs: number | undefined
  /** The latest times at which it began, oldest first; at most `flapCount`. */
  onsetsMs: readonly number[]
  /** How often it was interrupted without ending. */
  interruptions: number
  isOpen: boolean
}

export interface Transition {
  /** Undefined once nothing is left to be remembered. */
  condition: Condition | undefined
  change?: 'opened' | 'closed'
}

/**
 * Returns the condition after an observation. `isPresent` is undefined if it is unknown whether the failure lasts, for example
 * because its engine is offline: then nothing changes.
 */
export function advance(
  previous: Condition | undefined,
  isPresent: boolean | undefined,
  nowMs: number,
  holdOff: HoldOff,
): Transition {
  if (isPresent === undefined) return { condition: previous }
  return isPresent ? observePresence(previous, nowMs, holdOff) : observeAbsence(previous, nowMs, holdOff)
}

function observePresence(previous: Condition | undefined, nowMs: number, holdOff: HoldOff): Transition {
  const isOnset = previous?.presentSinceMs === undefined
  const onsets = isOnset ? [...(previous?.onsetsMs ?? []), nowMs] : previous.onsetsMs
  const condition: Condition = {
    beganMs: previous?.beganMs ?? nowMs,
    lastSeenMs: nowMs,
    presentSinceMs: previous?.presentSinceMs ?? nowMs,
    absentSinceMs: undefined,
    onsetsMs: onsets.slice(-holdOff.flapCount),
    interruptions: (previous?.interruptions ?? 0) + (previous && isOnset ? 1 : 0),
    isOpen: previous?.isOpen ?? false,
  }
  if (condition.isOpen) return { condition }

  const hasLasted = nowMs - condition.presentSinceMs! >= holdOff.openAfterMs
  if (!hasLasted && !isFlapping(condition, nowMs, holdOff)) return { condition }
  return { condition: { ...condition, isOpen: true }, change: 'opened' }
}

function observeAbsence(previous: Condition | undefined, nowMs: number, holdOff: HoldOff): Transition {
  if (!previous) return { condition: undefined }
  const absentSinceMs = previous.absentSinceMs ?? nowMs
  const condition = { ...previous, presentSinceMs: undefined, absentSinceMs }
  // A failure that is no alert is remembered as long as it may turn out to flap.
  const isPatient = !previous.isOpen || isFlapping(condition, nowMs, holdOff)
  const waitMs = isPatient ? holdOff.flapWindowMs : holdOff.closeAfterMs
  if (nowMs - absentSinceMs < waitMs) return { condition }
  return { condition: undefined, ...(previous.isOpen && { change: 'closed' }) }
}

const isFlapping = ({ onsetsMs }: Condition, nowMs: number, { flapCount, flapWindowMs }: HoldOff) =>
  onsetsMs.length >= flapCount && nowMs - onsetsMs[0]! <= flapWindowMs
