import { z } from 'zod'

/**
 * Times and durations in requests. A time expression is absolute (`2026-01-31T08:00:00Z`, epoch
 * milliseconds) or relative to the time of the request (`now`, `-15m`).
 */

// Durations

/** Milliseconds of each unit of a duration. */
const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
type Unit = keyof typeof UNIT_MS

/** An amount, which may be a decimal fraction, and a unit. */
const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d|w)$/

/** A century, longer than any retention period. */
const MAX_DURATION_MS = 36_525 * UNIT_MS.d

/**
 * Parses a duration such as `100ms` or `5m` to milliseconds. Returns undefined if it is
 * invalid or out of range.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (!match) return undefined
  const [, amount, unit] = match
  const durationMs = Math.round(Number(amount) * UNIT_MS[unit as Unit])
  return durationMs >= 1 && durationMs <= MAX_DURATION_MS ? durationMs : undefined
}

/**
 * The length of time buckets: a fixed time, or a number of days or months of the calendar. A day of
 * the calendar has 23 or 25 hours when the clocks of the time zone are changed.
 */
export type BucketInterval = { ms: number } | { days: number } | { months: number }

const WHOLE_DAYS = /^\d{1,5}[dw]$/
const WHOLE_MONTHS = /^(\d{1,5})mo$/
/** A century. */
const MAX_MONTHS = 1200

/**
 * Parses the length of time buckets. `1d`, `2w` and `1mo` are days and months of the calendar;
 * other durations, such as `5m` and `24h`, are a fixed time. Returns undefined if the text is
 * invalid or the length is more than a century.
 */
export function parseBucketInterval(text: string): BucketInterval | undefined {
  const monthsMatch = WHOLE_MONTHS.exec(text)
  if (monthsMatch) {
    const months = Number(monthsMatch[1])
    return months >= 1 && months <= MAX_MONTHS ? { months } : undefined
  }

  const ms = parseDuration(text)
  if (ms === undefined) return undefined
  return WHOLE_DAYS.test(text) ? { days: ms / UNIT_MS.d } : { ms }
}

// Times

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const EPOCH_MS = /^-?\d{1,15}$/

/** Years 1 to 9999. RFC 3339 has four digits for the year, and Postgres has no year 0. */
const MIN_TIME = Date.parse('0001-01-01T00:00:00Z')
const MAX_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Parses a time expression to epoch milliseconds. Relative expressions refer to `now`, also in
 * epoch milliseconds. Returns undefined if the expression is invalid or out of range.
 */
export function parseTime(text: string, now: number): number | undefined {
  const time = parseUnboundedTime(text, now)
  return time !== undefined && time >= MIN_TIME && time <= MAX_TIME ? time : undefined
}

function parseUnboundedTime(text: string, now: number): number | undefined {
  if (text === 'now') return now
  if (RFC_3339.test(text)) return parseRfc3339(text)
  if (EPOCH_MS.test(text)) return Number(text)
  if (text.startsWith('-')) return addDuration(now, text.slice(1), -1)
  if (text.startsWith('+')) return addDuration(now, text.slice(1), 1)
  return undefined
}

function addDuration(time: number, duration: string, sign: 1 | -1): number | undefined {
  const durationMs = parseDuration(duration)
  return durationMs === undefined ? undefined : time + sign * durationMs
}

/**
 * Parses a time such as `2026-01-31T08:00:00Z`. Unlike `Date.parse`, which turns 30 February into 1
 * March, this function rejects days that do not exist.
 */
function parseRfc3339(text: string): number | undefined {
  const time = Date.parse(text.toUpperCase().replace(' ', 'T'))
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  const isValid = !Number.isNaN(time) && day <= countDays(year, month)
  return isValid ? time : undefined
}

/** Returns the number of days of a month, from 1 to 12. */
function countDays(year: number, month: number): number {
  // `Date.UTC` maps the years 0 to 99 to the 1900s. The calendar repeats every 400 years.
  const equivalentYear = 2000 + (year % 400)
  // Day 0 is the last day of the previous month, and `Date.UTC` counts months from 0.
  return new Date(Date.UTC(equivalentYear, month, 0)).getUTCDate()
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/**
 * Parses a date such as `2026-01-31` to the epoch milliseconds of its midnight in UTC. Returns
 * undefined if it is invalid.
 */
export const parseDate = (text: string): number | undefined =>
  DAY.test(text) ? parseTime(`${text}T00:00:00Z`, 0) : undefined

// Schemas of request fields

/**
 * Restores a `+` that the decoding of the query has turned into a space: at the beginning of a
 * relative time such as `+15m`, and before a UTC offset such as `+02:00` at the end.
 */
const restorePlus = (text: string) => text.replace(/^ (?=\d)| (?=\d{2}:\d{2}$)/, '+')

/** In a JSON body, epoch milliseconds can be a number. */
const numberToText = (value: unknown) => (typeof value === 'number' ? String(value) : value)

/** Start or end of a time range. */
export const timeExpression = z
  .preprocess(numberToText, z.string().transform(restorePlus))
  .refine(text => parseTime(text, 0) !== undefined, {
    error:
      'must be RFC 3339 such as 2026-01-31T08:00:00Z, epoch milliseconds, now, or relative to now such as -15m',
  })
  .meta({ examples: ['-15m', 'now', '2026-01-31T08:00:00Z'] })

/** Start or end of a report: a time expression, or a date in the time zone of the site. */
export const dateOrTimeExpression = z
  .preprocess(numberToText, z.string())
  .refine(text => parseDate(text) !== undefined || parseTime(text, 0) !== undefined, {
    error:
      'must be a date such as 2026-01-31, RFC 3339, epoch milliseconds, now, or relative to now such as -7d',
  })
  .meta({
    description: 'A date is a day in the time zone of the site; the end includes it',
    examples: ['2026-01-31', '-7d'],
  })

/** Parses the text of a `lookback` to milliseconds. Returns NaN if it is invalid. */
export const lookbackMs = (text: string): number =>
  parseDuration(text.replace(/^-/, '')) ?? Number.NaN

/** Length of a time range that ends now, such as `7d`. A minus sign is ignored. */
export const lookback = z
  .string()
  .refine(text => !Number.isNaN(lookbackMs(text)), {
    error: 'must be a duration such as -1h or -7d',
  })
  .meta({ examples: ['-1h', '-7d'] })

/** Length of the time buckets over which values are aggregated. */
export const bucketInterval = z
  .string()
  .refine(text => parseBucketInterval(text) !== undefined, {
    error: 'must be a duration such as 100ms, 5m, 1d, 1w or 1mo',
  })
  .meta({
    description: 'Days (`d`), weeks (`w`) and months (`mo`) are those of the time zone of the site',
    examples: ['100ms', '5m', '1d', '1mo'],
  })
