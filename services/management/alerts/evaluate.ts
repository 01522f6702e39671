import type { AlertCondition } from '@eyrie/contract/management/alert'

/** What an alert waits for. */
export interface Watch {
  threshold: number
  condition: AlertCondition
  /** The least seconds between two notifications; 0: each time. */
  frequency: number
}

/** How an alert stood when it was looked at last. */
export interface Standing {
  /** Epoch ms; undefined: it has not fired yet. */
  firedAt: number | undefined
  /** Whether its condition held; undefined: it has not been looked at yet. */
  holds: boolean | undefined
}

/** Why and with what an alert is looked at. */
export interface Occasion {
  /** A message that bears on the statistic, or that time has passed. */
  cause: 'message' | 'time'
  /** Epoch ms: the message's time, or the time that it is. */
  at: number
  /** Undefined where there is nothing to tell it from, such as the mean of no visits. */
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
 * Whether an alert fires, and whether its condition holds. It fires while the condition holds, as often as its frequency
 * allows. With frequency 0 it fires with every message while the condition holds, and with time alone once: when the
 * condition comes to hold. Without a statistic no condition holds.
 */
export function evaluate(
  { threshold, condition, frequency }: Watch,
  standing: Standing,
  { cause, at, statistic }: Occasion,
): { fires: boolean; holds: boolean } {
  const holds = statistic !== undefined && conditions[condition](statistic, threshold)
  if (!holds) return { fires: false, holds }
  if (frequency === 0) return { fires: cause === 'message' || !standing.holds, holds }
  const { firedAt } = standing
  return { fires: firedAt === undefined || at - firedAt >= frequency * 1000, holds }
}
