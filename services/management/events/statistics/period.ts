import { lookbackMs, parseDate, parseTime } from '@eyrie/contract/management/time-expression'
import { fieldError } from '../../errors/field-errors.ts'
import type { Period } from './samples.ts'

const DAY_MS = 86_400_000

/** A requested period with its bounds as the response shows them. */
export interface RequestedPeriod extends Period {
  start: string
  end: string
}

/** Throws `EyrieError` (`syntax`), which names the `end` field, unless the period starts before it ends. */
export function parsePeriod(
  start: string,
  end: string,
  now: number,
  fields = { start: 'start', end: 'end' },
): RequestedPeriod {
  const from = parseTime(start, now)!
  const to = parseTime(end, now)!
  if (from >= to) throw fieldError(fields.end, `must be after ${fields.start}`)
  return { from, to, start: formatMoment(start, from), end: formatMoment(end, to) }
}

/** An absolute moment is shown as it was sent, a relative one as the time that it means. */
const formatMoment = (text: string, ms: number) => (/^\d{4}-/.test(text) ? text : new Date(ms).toISOString())

/** Returns the period of this length, such as `-1h`, that ends with `now` included. */
export const parseLookBack = (now: number, lookBack: string): Period => ({
  from: now - lookbackMs(lookBack),
  to: now + 1,
})

/** Accepts moments and days; the last day is included. Throws like `parsePeriod`. */
export function parseReportPeriod(start_date: string, end_date: string, now: number): Period {
  const firstDay = parseDate(start_date)
  const lastDay = parseDate(end_date)
  const start = firstDay === undefined ? start_date : new Date(firstDay).toISOString()
  const end = lastDay === undefined ? end_date : new Date(lastDay + DAY_MS).toISOString()
  return parsePeriod(start, end, now, { start: 'start_date', end: 'end_date' })
}
