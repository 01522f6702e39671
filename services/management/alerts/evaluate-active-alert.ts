import type { ActiveAlert, StoredAlertState } from './active-alerts.ts'
import { type AlertTrigger, evaluateAlert, isReleased } from './evaluate-alert.ts'

/** The result of evaluating an alert. */
export interface Evaluation {
  fires: boolean
  /** Whether the state of the alert must be stored. */
  hasChanged: boolean
  /**
   * When the condition had been released before this evaluation, in epoch ms.
   * Undefined if it had not.
   */
  previousReleasedAt: number | undefined
}

/**
 * Evaluates an alert, and replaces its state if that changes. A late message does not
 * move `evaluatedAt` back.
 */
export function evaluateActiveAlert(alert: ActiveAlert, trigger: AlertTrigger): Evaluation {
  const { state: previous } = alert
  const { timeMs } = trigger
  const { fires, holds } = evaluateAlert(alert, previous, trigger)
  const releasedAt = holds ? undefined : findReleaseTime(alert, trigger)
  const hasChanged = fires || holds !== previous.holds || releasedAt !== previous.releasedAt
  if (hasChanged) {
    alert.state = {
      firedAt: fires ? timeMs : previous.firedAt,
      holds,
      evaluatedAt: Math.max(timeMs, previous.evaluatedAt ?? timeMs),
      releasedAt,
    }
  }
  return { fires, hasChanged, previousReleasedAt: previous.releasedAt }
}

/**
 * Returns when a condition that does not hold was released; undefined if it is not released yet.
 */
function findReleaseTime(
  { condition, policy, state }: ActiveAlert,
  { timeMs, statistic }: AlertTrigger,
): number | undefined {
  // A released condition remains released until it holds again.
  if (state.releasedAt !== undefined) return state.releasedAt
  return isReleased(condition, policy.release_threshold, statistic) ? timeMs : undefined
}

/**
 * Returns the state of an alert that is disarmed at `timeMs`. If the condition holds when the alert
 * is armed again, the alert fires anew. Meanwhile the condition counts as released, so that the
 * incident of the alert ends.
 */
export const restartEvaluation = (state: StoredAlertState, timeMs: number): StoredAlertState =>
  state.holds === undefined
    ? state
    : { ...state, holds: undefined, releasedAt: state.releasedAt ?? timeMs }
