import type { ReportInterval } from '@eyrie/contract/management/report'
import { toMoment } from '../../events/statistics/time-zone.ts'
import {
  addUnits,
  DAY_MS,
  findLastPeriod,
  formatLocalDay,
  type ReportPeriod,
  toLocal,
} from '../report-period.ts'

const MINUTE_MS = 60_000
/**
 * Maximum number of reports that are sent late, for example after a week without power. Older
 * periods are not reported.
 */
const MAX_LATE_REPORTS = 7

/** When a scheduled report is sent: after each day, week or month, at a time of day. */
export interface ReportTimes {
  every: ReportInterval
  /** HH:MM, in the time zone. */
  time: string
  timeZone: string
}

/**
 * Returns the periods whose reports are due at `now` (epoch ms), oldest first. `lastDay` is the
 * last day that was reported: only later periods are due.
 */
export function findDuePeriods(times: ReportTimes, lastDay: string, now: number): ReportPeriod[] {
  const due: ReportPeriod[] = []
  let period = findPeriodBefore(now, times)
  while (due.length < MAX_LATE_REPORTS && findLastDay(period, times) > lastDay) {
    if (findSendingTime(period, times) <= now) due.unshift(period)
    period = findPeriodBefore(period.from, times)
  }
  return due
}

/** Returns the last day of the newest period whose report is due at `now` (epoch ms). */
export function findLastDueDay(times: ReportTimes, now: number): string {
  const period = findPeriodBefore(now, times)
  const isDue = findSendingTime(period, times) <= now
  return findLastDay(isDue ? period : findPeriodBefore(period.from, times), times)
}

/**
 * Returns when the next report is sent, in epoch ms. `lastDay` is the last day that was reported.
 * Returns `now` if a report is due already.
 */
export function findNextSendingTime(times: ReportTimes, lastDay: string, now: number): number {
  if (findDuePeriods(times, lastDay, now).length > 0) return now
  // The newest complete period may be reported later today.
  const period = findPeriodBefore(now, times)
  const sendingTime = findSendingTime(period, times)
  if (sendingTime > now && findLastDay(period, times) > lastDay) return sendingTime
  const nextPeriodEnd = addUnits(toLocal(period.to, times.timeZone), times.every, 1)
  return toSendingTime(nextPeriodEnd, times)
}

/** Returns the last day of a period, such as `2026-01-31`. */
export const findLastDay = ({ to }: ReportPeriod, { timeZone }: ReportTimes): string =>
  formatLocalDay(to - 1, timeZone)

/** Returns the last complete day, week or month that ends at or before a moment (epoch ms). */
const findPeriodBefore = (timeMs: number, { every, timeZone }: ReportTimes): ReportPeriod =>
  findLastPeriod({ count: 1, unit: every }, timeMs, timeZone)

/** Returns when the report about a period is sent: on the day after the period. */
export const findSendingTime = ({ to }: ReportPeriod, times: ReportTimes): number =>
  toSendingTime(toLocal(to, times.timeZone), times)

/** Returns the moment at which reports are sent on the day of a local time. */
function toSendingTime(local: number, { time, timeZone }: ReportTimes): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const midnight = Math.floor(local / DAY_MS) * DAY_MS
  return toMoment(midnight + (hours * 60 + minutes) * MINUTE_MS, timeZone)
}
