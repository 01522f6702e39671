import type { AlertCondition } from '@eyrie/contract/management/alert'
import { MOVING_AVERAGE, OCCUPANCY_AVERAGE } from '../events/statistics/contribution.ts'

/** The part of an alert that decides when it fires. */
export interface AlertRule {
  threshold: number
  condition: AlertCondition
  /** Minimum interval between two notifications, in seconds. 0: no minimum. */
  frequency: number
}

/** The result of the last evaluation. */
export interface AlertState {
  /** Time of the last notification, in epoch ms. Undefined before the first notification. */
  firedAt: number | undefined
  /** Whether the condition was met. Undefined before the first evaluation. */
  holds: boolean | undefined
}

/** Why an alert is evaluated, and the value of its statistic at that time. */
export interface AlertTrigger {
  /** `message`: a message has changed the statistic. `time`: time has passed without a message. */
  cause: 'message' | 'time'
  /** Epoch ms: the time of the message, or the current time. */
  timeMs: number
  /** Undefined if there are no values, such as for the mean dwell time of zero visits. */
  statistic: number | undefined
}

const CONDITIONS: Record<AlertCondition, (value: number, threshold: number) => boolean> = {
  gt: (value, threshold) => value > threshold,
  gte: (value, threshold) => value >= threshold,
  lt: (value, threshold) => value < threshold,
  lte: (value, threshold) => value <= threshold,
  eq: (value, threshold) => value === threshold,
  ne: (value, threshold) => value !== threshold,
}

/**
 * Returns whether an alert fires, and whether its condition holds. If the statistic has no
 * value, no condition holds.
 *
 * An alert with a `frequency` fires at most once in that interval while its condition holds. An
 * alert without one fires on every message while its condition holds, and also when the condition
 * starts to hold because time has passed.
 */
export function evaluateAlert(
  { threshold, condition, frequency }: AlertRule,
  state: AlertState,
  { cause, timeMs, statistic }: AlertTrigger,
): { fires: boolean; holds: boolean } {
  const holds = statistic !== undefined && CONDITIONS[condition](statistic, threshold)
  if (!holds) return { fires: false, holds }
  if (frequency === 0) return { fires: cause === 'message' || !state.holds, holds }
  const { firedAt } = state
  // A clock that was ahead for a time must not silence the alert until then.
  const isIntervalOver = firedAt === undefined || Math.abs(timeMs - firedAt) >= frequency * 1000
  return { fires: isIntervalOver, holds }
}

/**
 * Returns whether a condition that does not hold is released. Without a release threshold, it
 * always is. With a release threshold, the statistic must not meet the condition with that value
 * either, so that the alert does not flicker around its threshold.
 */
export const isReleased = (
  condition: AlertCondition,
  releaseThreshold: number | null,
  statistic: number | undefined,
): boolean =>
  releaseThreshold === null ||
  statistic === undefined ||
  !CONDITIONS[condition](statistic, releaseThreshold)

/**
 * Returns the keys under which the values of a statistic may be stored. If several keys have
 * values, the first one applies. Engines that do not report the moving average report the
 * occupancy, from which it is computed.
 */
export const listStoredKeys = (key: string): string[] =>
  key === MOVING_AVERAGE ? [key, OCCUPANCY_AVERAGE] : [key]
