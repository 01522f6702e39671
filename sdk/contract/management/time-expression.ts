import { z } from 'zod'

/** Duration units in milliseconds. */
const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
type Unit = keyof typeof unitMs

const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d|w)$/
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const EPOCH_MS = /^-?\d{1,15}$/

/** Years 1 to 9999: RFC 3339 cannot represent later ones, and Postgres has no year 0. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z')
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A century, longer than any retention period. */
const MAX_DURATION_MS = 36_525 * unitMs.d

/** Parses a duration such as `100ms`, `5m` or `1d` to milliseconds. Undefined if it is not valid or out of range. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = DURATION.exec(text) ?? []
  if (amount === undefined) return undefined
  const ms = Math.round(Number(amount) * unitMs[unit as Unit])
  return ms >= 1 && ms <= MAX_DURATION_MS ? ms : undefined
}

/**
 * Parses a time expression to epoch milliseconds: RFC 3339, epoch milliseconds, `now`, or a time relative to `now` such
 * as `-15m`. Undefined if it is not valid or out of range.
 */
export function parseTime(text: string, now: number): number | undefined {
  const at = parseUnboundedTime(text, now)
  return at !== undefined && at >= EARLIEST && at <= LATEST ? at : undefined
}

function parseUnboundedTime(text: string, now: number): number | undefined {
  if (text === 'now') return now
  if (RFC_3339.test(text)) return parseRfc3339(text)
  if (EPOCH_MS.test(text)) return Number(text)
  const ms = /^[-+]/.test(text) ? parseDuration(text.slice(1)) : undefined
  if (ms === undefined) return undefined
  return text.startsWith('-') ? now - ms : now + ms
}

/** `Date.parse` turns 30 February into 1 March. Here, days that do not exist are not valid. */
function parseRfc3339(text: string): number | undefined {
  const at = Date.parse(text.toUpperCase().replace(' ', 'T'))
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return Number.isNaN(at) || day > lastDay ? undefined : at
}

/** Query decoding turns a literal `+` into a space. This restores it in offsets and relative times. */
const restorePlus = (text: string) => text.replace(/^ (?=\d)| (?=\d{2}:\d{2}$)/, '+')

/** Start or end of a time range. */
export const timeExpression = z
  .preprocess(value => (typeof value === 'number' ? String(value) : value), z.string().transform(restorePlus))
  .refine(text => parseTime(text, 0) !== undefined, {
    error:
      'must be RFC 3339 such as 2026-01-31T08:00:00Z, epoch milliseconds, now, or relative to now such as -15m',
  })
  .meta({ examples: ['-15m', 'now', '2026-01-31T08:00:00Z'] })

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Parses a date such as `2026-01-31` to its midnight in UTC, in epoch milliseconds. Undefined if it is not valid. */
export const parseDate = (text: string): number | undefined =>
  DAY.test(text) ? parseTime(`${text}T00:00:00Z`, 0) : undefined

/** Start or end of a report: a time expression or a date. */
export const dateOrTimeExpression = z
  .preprocess(value => (typeof value === 'number' ? String(value) : value), z.string())
  .refine(text => parseDate(text) !== undefined || parseTime(text, 0) !== undefined, {
    error:
      'must be a date such as 2026-01-31, RFC 3339, epoch milliseconds, now, or relative to now such as -7d',
  })
  .meta({ examples: ['2026-01-31', '-7d'] })

/** Length of a time range that ends now, with or without a minus sign. */
export const lookback = z
  .string()
  .refine(text => parseDuration(text.replace(/^-/, '')) !== undefined, {
    error: 'must be a duration such as -1h or -7d',
  })
  .meta({ examples: ['-1h', '-7d'] })

/** Length of a lookback in milliseconds. */
export const lookbackMs = (text: string) => parseDuration(text.replace(/^-/, '')) as number

/** Length of the time buckets of an aggregation. */
export const bucketInterval = z
  .string()
  .refine(text => parseDuration(text) !== undefined, { error: 'must be a duration such as 100ms, 5m or 1d' })
  .meta({ examples: ['100ms', '5m', '1d'] })
