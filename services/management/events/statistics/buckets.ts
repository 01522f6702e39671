import type { BucketInterval } from '@eyrie/contract/management/time-expression'
import { type SQL, sql } from 'drizzle-orm'
import { HOUR_MS, MINUTE_MS, type Period } from './samples.ts'
import { getOffsetMs, toMoment } from './time-zone.ts'

const DAY_MS = 86_400_000
/**
 * Interval at which the offset of a zone is checked for whole hours. Most zones change their offset
 * less often. Zones that suspend daylight saving during Ramadan change it more often, but by a
 * whole hour, which does not affect the result.
 */
const OFFSET_CHECK_MS = 28 * DAY_MS
/** There are no statistics outside of this time. A client may request thousands of years. */
const EARLIEST_MS = Date.UTC(2000, 0)
const LATEST_MS = Date.UTC(2100, 0)

/**
 * Buckets are the intervals, such as hours or months, into which the history of a
 * statistic is divided.
 */
export interface Buckets {
  /**
   * Returns an SQL expression for the bucket that contains a time. It is a timestamp, whose epoch
   * milliseconds are the key of the bucket. Later buckets have greater keys.
   */
  select(time: SQL): SQL
  /** Returns the period of the bucket with this key. */
  toPeriod(key: number): Period
  /** Whether all buckets consist of whole minutes. */
  hasWholeMinutes: boolean
  /** Whether all buckets of a period consist of whole hours of UTC. */
  hasWholeHours(period: Period): boolean
}

/**
 * Creates buckets of an interval. Days and months are those of an IANA time zone. They are longer
 * or shorter when clocks change.
 */
export function createBuckets(interval: BucketInterval, timeZone: string): Buckets {
  if ('ms' in interval) return createFixedBuckets(interval.ms)
  return 'days' in interval
    ? createDayBuckets(interval.days, timeZone)
    : createMonthBuckets(interval.months, timeZone)
}

function createFixedBuckets(ms: number): Buckets {
  // Buckets are aligned to a Monday.
  const origin = sql`timestamptz '1970-01-05 00:00:00+00'`
  return {
    select: time => sql`date_bin(${ms} * interval '1 millisecond', ${time}, ${origin})`,
    toPeriod: key => ({ from: key, to: key + ms }),
    hasWholeMinutes: ms % MINUTE_MS === 0,
    hasWholeHours: () => ms % HOUR_MS === 0,
  }
}

// The key of a day or month is the local time at which it starts. SQL converts moments to local
// time, and `toMoment` converts keys back to moments. Postgres could do this too, but would choose
// the second of the two midnights when clocks are set back at midnight.

const toLocal = (time: SQL, timeZone: string) => sql`(${time} at time zone ${timeZone}::text)`

function createDayBuckets(days: number, timeZone: string): Buckets {
  return {
    // Weeks start on Mondays.
    select: time =>
      sql`date_bin(
        ${days} * interval '1 day',
        ${toLocal(time, timeZone)},
        timestamp '1970-01-05 00:00:00'
      )`,
    toPeriod: key => ({
      from: toMoment(key, timeZone),
      to: toMoment(key + days * DAY_MS, timeZone),
    }),
    hasWholeMinutes: true,
    hasWholeHours: period => hasHourOffsets(timeZone, period),
  }
}

function createMonthBuckets(months: number, timeZone: string): Buckets {
  return {
    select(time) {
      const local = toLocal(time, timeZone)
      // Rounds the number of months since January of the year 0 down to a multiple of `months`. The
      // timestamp is that of the year 1, because Postgres has no year 0.
      const month = sql`(extract(year from ${local}) * 12 + extract(month from ${local}) - 1)::int`
      const firstMonth = sql`${month} / ${months}::int * ${months}::int`
      return sql`timestamp '0001-01-01 00:00:00' + (${firstMonth} - 12) * interval '1 month'`
    },
    toPeriod(key) {
      const end = new Date(key)
      end.setUTCMonth(end.getUTCMonth() + months)
      return { from: toMoment(key, timeZone), to: toMoment(end.getTime(), timeZone) }
    },
    hasWholeMinutes: true,
    hasWholeHours: period => hasHourOffsets(timeZone, period),
  }
}

/**
 * Returns whether local days begin at whole hours of UTC in a period, including the day before it
 * and the day after it.
 */
function hasHourOffsets(timeZone: string, { from, to }: Period): boolean {
  const isWholeHour = (timeMs: number) => getOffsetMs(timeMs, timeZone) % HOUR_MS === 0
  const end = Math.min(to, LATEST_MS)
  for (let timeMs = Math.max(from, EARLIEST_MS) - DAY_MS; timeMs < end; timeMs += OFFSET_CHECK_MS) {
    if (!isWholeHour(timeMs)) return false
  }
  return isWholeHour(end + DAY_MS)
}
