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
/** Maximum number of reports that follow a time in which none could be sent. Older periods are left out. */
const MAX_MISSED = 7

/** When a scheduled report is sent. */
export interface ReportTimes {
  every: ReportInterval
  /** HH:MM */
  time: string
  timeZone: string
}

/** Returns the periods, oldest first, that have to be reported at `now` (epoch ms) and end after the day `lastDay`. */
export function findDuePeriods(times: ReportTimes, lastDay: string, now: number): ReportPeriod[] {
  const due: ReportPeriod[] = []
  let period = findLastPeriod({ count: 1, unit: times.every }, now, times.timeZone)
  while (due.length < MAX_MISSED && findLastDay(period, times) > lastDay) {
    if (findSendingTime(period, times) <= now) due.unshift(period)
    period = findPeriodBefore(period, times)
  }
  return due
}

/** Returns the last day of the newest period whose time to be sent has passed at `now` (epoch ms). */
export function findLastDueDay(times: ReportTimes, now: number): string {
  const period = findLastPeriod({ count: 1, unit: times.every }, now, times.timeZone)
  const isDue = findSendingTime(period, times) <= now
  return findLastDay(isDue ? period : findPeriodBefore(period, times), times)
}

/** Returns when the first report about a day after `lastDay` is sent, in epoch ms; not before `now`. */
export function findNextSendingTime(times: ReportTimes, lastDay: string, now: number): number {
  const [due] = findDuePeriods(times, lastDay, now)
  if (due) return now
  const period = findLastPeriod({ count: 1, unit: times.every }, now, times.timeZone)
  const time = findSendingTime(period, times)
  if (time > now && findLastDay(period, times) > lastDay) return time
  const nextEnd = addUnits(toLocal(period.to, times.timeZone), times.every, 1)
  return findLocalTime(nextEnd, times)
}

export const findLastDay = ({ to }: ReportPeriod, { timeZone }: ReportTimes): string =>
  formatLocalDay(to - 1, timeZone)

const findPeriodBefore = ({ from }: ReportPeriod, { every, timeZone }: ReportTimes): ReportPeriod =>
  findLastPeriod({ count: 1, unit: every }, from, timeZone)

const findSendingTime = ({ to }: ReportPeriod, times: ReportTimes): number =>
  findLocalTime(toLocal(to, times.timeZone), times)

/** Returns the moment at which a report is sent, on a day that is given by any of its local times. */
function findLocalTime(local: number, { time, timeZone }: ReportTimes): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const midnight = Math.floor(local / DAY_MS) * DAY_MS
  return toMoment(midnight + (hours * 60 + minutes) * MINUTE_MS, timeZone)
}
