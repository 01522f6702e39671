import { lookbackMs, parseDate, parseTime } from '@eyrie/contract/management/time-expression'
import { fieldError } from '../../errors/field-errors.ts'
import type { Period } from './samples.ts'

/** A period that was given by its ends, with how they are told in an answer. */
export interface GivenPeriod extends Period {
  start: string
  end: string
}

/** The period between two moments. Throws EyrieError `syntax` where the first is not before the second. */
export function periodBetween(
  start: string,
  end: string,
  now: number,
  fields = { start: 'start', end: 'end' },
): GivenPeriod {
  const [from, to] = [parseTime(start, now)!, parseTime(end, now)!]
  if (from < to) return { from, to, start: told(start, from), end: told(end, to) }
  throw fieldError(fields.end, `must be after ${fields.start}`)
}

/** The period that ends now, which belongs to it. */
export const periodUpTo = (now: number, frequency: string): Period => ({
  from: now - lookbackMs(frequency),
  to: now + 1,
})

const DAY_MS = 86_400_000

/** The period from the beginning of the first day or moment to the end of the last. Throws as `periodBetween` does. */
export function periodOfReport(start_date: string, end_date: string, now: number): Period {
  const [first, last] = [parseDate(start_date), parseDate(end_date)]
  const start = first === undefined ? start_date : new Date(first).toISOString()
  const end = last === undefined ? end_date : new Date(last + DAY_MS).toISOString()
  return periodBetween(start, end, now, { start: 'start_date', end: 'end_date' })
}

/** What was said is said again; what was relative, as what it has come to mean. */
const told = (given: string, ms: number) => (/^\d{4}-/.test(given) ? given : new Date(ms).toISOString())
