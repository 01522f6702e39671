import type { AlertCondition } from '@eyrie/contract/management/alert'
import type { Aggregation } from '@eyrie/contract/management/statistic'
import { OCCUPANCY_AVERAGE } from '../events/statistics/contribution.ts'

/** The condition of an alert. */
export interface AlertRule {
  threshold: number
  condition: AlertCondition
  /** Minimum interval between two notifications, in seconds; 0: no minimum. */
  frequency: number
}

/** The result of the last evaluation. */
export interface AlertStanding {
  /** Time of the last notification, epoch ms. */
  firedAt: number | undefined
  /** Whether the condition held; undefined before the first evaluation. */
  holds: boolean | undefined
}

/** The reason for an evaluation, with the statistic at that time. */
export interface AlertTrigger {
  /** A message has changed the statistic, or time has passed. */
  cause: 'message' | 'time'
  /** Epoch ms: the time of the message, or the current time. */
  timeMs: number
  /** Undefined when there are no values, as for the mean of zero visits. */
  statistic: number | undefined
}

const conditions: Record<AlertCondition, (value: number, threshold: number) => boolean> = {
  gt: (value, threshold) => value > threshold,
  gte: (value, threshold) => value >= threshold,
  lt: (value, threshold) => value < threshold,
  lte: (value, threshold) => value <= threshold,
  eq: (value, threshold) => value === threshold,
  ne: (value, threshold) => value !== threshold,
}

/**
 * Returns whether an alert fires and whether its condition holds. An alert fires while its condition holds, at most once per
 * `frequency`. With frequency 0 it fires on every message while the condition holds, and on time when the condition starts
 * to hold. Without a statistic no condition holds.
 */
export function evaluateAlert(
  { threshold, condition, frequency }: AlertRule,
  standing: AlertStanding,
  { cause, timeMs, statistic }: AlertTrigger,
): { fires: boolean; holds: boolean } {
  const holds = statistic !== undefined && conditions[condition](statistic, threshold)
  if (!holds) return { fires: false, holds }
  if (frequency === 0) return { fires: cause === 'message' || !standing.holds, holds }
  const { firedAt } = standing
  return { fires: firedAt === undefined || timeMs - firedAt >= frequency * 1000, holds }
}

/** The values of a key within the window of an alert. */
export interface WindowTotals {
  sum: number
  count: number
  /** The latest value within or before the window. */
  last: number | undefined
}

/** Returns undefined when there are no values. */
export function computeStatistic(
  aggregation: Aggregation,
  { sum, count, last }: WindowTotals,
): number | undefined {
  switch (aggregation) {
    case 'sum':
      return sum
    case 'mean':
      return count > 0 ? sum / count : undefined
    case 'last':
      return last
  }
}

/** Returns the keys under which the values of a statistic are stored; the first one with a value applies. */
export const toStoredKeys = (key: string): string[] =>
  key === 'moving_average_count' ? [key, OCCUPANCY_AVERAGE] : [key]
