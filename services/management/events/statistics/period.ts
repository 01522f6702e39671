import { lookbackMs, parseDate, parseTime } from '@eyrie/contract/management/time-expression'
import { fieldError } from '../../errors/field-errors.ts'
import type { Period } from './samples.ts'
import { toMoment } from './time-zone.ts'

const DAY_MS = 86_400_000
const MIN_TIME_MS = Date.parse('0001-01-01T00:00:00Z')
/** ISO 8601 writes later years with a sign and six digits, which Postgres does not read. */
const MAX_TIME_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** A period that a client requested, with the bounds as the response shows them. */
export interface RequestedPeriod extends Period {
  start: string
  end: string
}

/**
 * Parses the bounds of a period, which may be relative to `now` (epoch ms). Throws `EyrieError`
 * (`syntax`) for the `end` field if the period does not end after its start.
 */
export function parsePeriod(
  start: string,
  end: string,
  now: number,
  fieldNames = { start: 'start', end: 'end' },
): RequestedPeriod {
  // The request schema accepts only valid times.
  const from = parseTime(start, now)!
  const to = parseTime(end, now)!
  if (from >= to) throw fieldError(fieldNames.end, `must be after ${fieldNames.start}`)
  return { from, to, start: formatTime(start, from), end: formatTime(end, to) }
}

/** Returns an absolute time as it was sent, and a relative time converted to RFC 3339. */
function formatTime(text: string, timeMs: number): string {
  // An absolute time starts with the year. A relative time is an expression such as `-1h`.
  const isAbsolute = /^\d{4}-/.test(text)
  return isAbsolute ? text : new Date(timeMs).toISOString()
}

/** Returns the period from a look-back such as `-1h` up to and including `now`. */
export const parseLookBack = (now: number, lookBack: string): Period => ({
  from: now - lookbackMs(lookBack),
  to: now + 1,
})

/**
 * Parses a period between two times or dates. A date is a day in an IANA time zone, and a date as
 * the end includes that day. Throws like `parsePeriod`.
 */
export function parseReportPeriod(
  startDate: string,
  endDate: string,
  now: number,
  timeZone: string,
): Period {
  const firstDay = parseDate(startDate)
  const lastDay = parseDate(endDate)
  const start = firstDay === undefined ? startDate : formatMidnight(firstDay, timeZone)
  const end = lastDay === undefined ? endDate : formatMidnight(lastDay + DAY_MS, timeZone)
  return parsePeriod(start, end, now, { start: 'start_date', end: 'end_date' })
}

/**
 * Formats the moment at which a day starts in a time zone. `utcMidnight` is the start of the same
 * day in UTC, in epoch ms.
 */
function formatMidnight(utcMidnight: number, timeZone: string): string {
  const timeMs = toMoment(utcMidnight, timeZone)
  return new Date(Math.min(Math.max(timeMs, MIN_TIME_MS), MAX_TIME_MS)).toISOString()
}
