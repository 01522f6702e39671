import type { CalendarPeriod, ReportInterval } from '@eyrie/contract/management/report'
import type { Period } from '../events/statistics/samples.ts'
import { getOffsetMs, toMoment } from '../events/statistics/time-zone.ts'

export const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
/** The first Monday of epoch time, as a local time. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/**
 * The period of a report, and the period of the same length before it, with which the
 * report can be compared.
 */
export interface ReportPeriod extends Period {
  previous: Period
}

/** The interval of one row of a report. */
export interface ReportBucket {
  /**
   * The local time at which the interval starts. It is also the key of the bucket of
   * statistics (`Buckets`).
   */
  key: number
  /** First and last day, such as `2026-01-31`. */
  firstDay: string
  lastDay: string
}

// The functions below calculate with local times, because days and months depend on the time zone.
// A local time is expressed as the epoch milliseconds at which clocks in UTC show it.

/** Converts a moment to the local time of a zone. */
export const toLocal = (timeMs: number, timeZone: string) => timeMs + getOffsetMs(timeMs, timeZone)

/** Returns the last complete days, weeks or months that end at or before a moment (epoch ms). */
export function findLastPeriod(
  { count, unit }: CalendarPeriod,
  beforeMs: number,
  timeZone: string,
): ReportPeriod {
  const end = findStart(toLocal(beforeMs, timeZone), unit)
  const start = addUnits(end, unit, -count)
  const previousStart = addUnits(start, unit, -count)
  const from = toMoment(start, timeZone)
  const to = toMoment(end, timeZone)
  return { from, to, previous: { from: toMoment(previousStart, timeZone), to: from } }
}

/**
 * Adds the previous period. If the period consists of whole months, the previous one has as many
 * months. If not, it has as many days, rounded up.
 */
export function addPreviousPeriod({ from, to }: Period, timeZone: string): ReportPeriod {
  const start = toLocal(from, timeZone)
  const end = toLocal(to, timeZone)
  const isMonthly = [start, end].every(local => local === findStart(local, 'month'))
  const previousStart = isMonthly
    ? addUnits(start, 'month', -countMonths(start, end))
    : start - Math.ceil((end - start) / DAY_MS) * DAY_MS
  return { from, to, previous: { from: toMoment(previousStart, timeZone), to: from } }
}

export interface BucketListOptions {
  interval: ReportInterval
  timeZone: string
  /** Epoch ms. */
  now: number
}

/**
 * Returns the days, weeks or months of a period that have begun before `now`. The first and the
 * last one are cut to the period.
 */
export function listBuckets(
  { from, to }: Period,
  { interval, timeZone, now }: BucketListOptions,
): ReportBucket[] {
  const start = toLocal(from, timeZone)
  const end = toLocal(Math.min(to, now), timeZone)
  const buckets: ReportBucket[] = []
  for (let key = findStart(start, interval); key < end; key = addUnits(key, interval, 1)) {
    const bucketEnd = Math.min(addUnits(key, interval, 1), toLocal(to, timeZone))
    buckets.push({
      key,
      firstDay: formatDay(Math.max(key, start)),
      lastDay: formatDay(bucketEnd - 1),
    })
  }
  return buckets
}

/** Returns the day of a moment in a time zone, such as `2026-01-31`. */
export const formatLocalDay = (timeMs: number, timeZone: string): string =>
  formatDay(toLocal(timeMs, timeZone))

/** Returns a moment as clocks of a time zone show it, such as `2026-01-31 08:00`. */
export const formatLocalTime = (timeMs: number, timeZone: string): string =>
  new Date(toLocal(timeMs, timeZone)).toISOString().slice(0, 16).replace('T', ' ')

/** Returns the day of a local time, such as `2026-01-31`. */
export const formatDay = (local: number) => new Date(local).toISOString().slice(0, 10)

/** Returns the start of the day, week or month of a local time. */
function findStart(local: number, unit: ReportInterval): number {
  if (unit === 'day') return Math.floor(local / DAY_MS) * DAY_MS
  if (unit === 'week') {
    return FIRST_MONDAY_MS + Math.floor((local - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS
  }
  const date = new Date(local)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

/** Adds days, weeks or months to the start of one of them, in local time. */
export function addUnits(start: number, unit: ReportInterval, count: number): number {
  if (unit !== 'month') return start + count * (unit === 'week' ? WEEK_MS : DAY_MS)
  const date = new Date(start)
  return date.setUTCMonth(date.getUTCMonth() + count)
}

/** Returns the number of months between two starts of months, in local time. */
function countMonths(start: number, end: number): number {
  const first = new Date(start)
  const last = new Date(end)
  const years = last.getUTCFullYear() - first.getUTCFullYear()
  return years * 12 + last.getUTCMonth() - first.getUTCMonth()
}
