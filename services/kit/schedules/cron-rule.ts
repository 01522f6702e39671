import { CRON_OPTIONS } from '@eyrie/contract/cron'
import { CronPattern } from 'croner'
import { DAY_MS, MINUTE_MS } from './time-zone.ts'

/** A cron expression that arms or disarms. Days are numbered from 1 January 1970. */
export interface CronRule {
  /** Whether the expression arms, rather than disarms. */
  arms: boolean
  matchesDay(day: number): boolean
  /** The times of matching days, in ms since midnight. */
  times: number[]
  /** Whether the expression names times of day, without wildcard or step. */
  isFixedTime: boolean
}

/** Parses a cron expression. Returns no rule for an empty one. */
export function parseCronRules(expression: string, { arms }: Pick<CronRule, 'arms'>): CronRule[] {
  if (expression === '') return []
  const singleSpaced = expression.trim().split(/\s+/).join(' ')
  const pattern = new CronPattern(singleSpaced, undefined, {
    ...CRON_OPTIONS,
    fixedTimeRule: 'no-wildcard',
  })
  const { hour, minute, isFixedTime } = pattern
  const times = listIndexes(hour).flatMap(hours =>
    listIndexes(minute).map(minutes => (hours * 60 + minutes) * MINUTE_MS),
  )
  return [{ arms, matchesDay: createDayMatcher(pattern), times, isFixedTime }]
}

/** Returns the numbers of a field, which has a flag for each possible number. */
const listIndexes = (flags: readonly number[]): number[] =>
  flags.flatMap((flag, index) => (flag ? [index] : []))

/**
 * Returns whether a day matches an expression. If the expression restricts both the day of the
 * month and the day of the week, one of them is sufficient, as with cron(8).
 */
function createDayMatcher(pattern: CronPattern): (day: number) => boolean {
  const { day: days, month: months, dayOfWeek: weekdays } = pattern
  const restrictsBoth = !pattern.starDOM && !pattern.starDOW
  return day => {
    const date = new Date(day * DAY_MS)
    if (!months[date.getUTCMonth()]) return false
    const isOnDate = Boolean(days[date.getUTCDate() - 1])
    const isOnWeekday = Boolean(weekdays[date.getUTCDay()])
    return restrictsBoth ? isOnDate || isOnWeekday : isOnDate && isOnWeekday
  }
}
