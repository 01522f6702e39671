import { z } from 'zod'

/** Milliseconds of each unit of a duration. */
const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
type Unit = keyof typeof unitMs

const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d|w)$/
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const EPOCH_MS = /^-?\d{1,15}$/

/** Moments lie between the years 1 and 9999, which RFC 3339 can write and Postgres, which has no year 0, can read. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z')
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A century: longer than anything is kept. */
const LONGEST_MS = 36_525 * unitMs.d

/** Milliseconds of a duration such as `100ms`, `5m`, `1d`; undefined where it is none, or none of use. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = DURATION.exec(text) ?? []
  if (amount === undefined) return undefined
  const ms = Math.round(Number(amount) * unitMs[unit as Unit])
  return ms >= 1 && ms <= LONGEST_MS ? ms : undefined
}

/**
 * The moment, in epoch ms, that a text means at `now`: RFC 3339, epoch milliseconds, `now`, or relative to now such as
 * `-15m`. Undefined where it means none.
 */
export function parseTime(text: string, now: number): number | undefined {
  const at = momentOf(text, now)
  return at !== undefined && at >= EARLIEST && at <= LATEST ? at : undefined
}

function momentOf(text: string, now: number): number | undefined {
  if (text === 'now') return now
  if (RFC_3339.test(text)) return readCalendar(text)
  if (EPOCH_MS.test(text)) return Number(text)
  const ms = /^[-+]/.test(text) ? parseDuration(text.slice(1)) : undefined
  if (ms === undefined) return undefined
  return text.startsWith('-') ? now - ms : now + ms
}

/** `Date` takes 30 February for 1 March; a moment that does not exist is none. */
function readCalendar(text: string): number | undefined {
  const at = Date.parse(text.toUpperCase().replace(' ', 'T'))
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return Number.isNaN(at) || day > lastDay ? undefined : at
}

/** A form decodes the `+` of an address as a space; RFC 3986 lets it stand there for itself. */
const withPlus = (text: string) => text.replace(/^ (?=\d)| (?=\d{2}:\d{2}$)/, '+')

/** Start or end of a period, in a query. Epoch milliseconds may be a number. */
export const timeExpression = z
  .preprocess(given => (typeof given === 'number' ? String(given) : given), z.string().transform(withPlus))
  .refine(text => parseTime(text, 0) !== undefined, {
    error: 'write RFC 3339 such as 2026-01-31T08:00:00Z, epoch milliseconds, now, or such as -15m',
  })
  .meta({ examples: ['-15m', 'now', '2026-01-31T08:00:00Z'] })

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Midnight UTC with which a day such as `2026-01-31` begins, epoch ms; undefined where the text names no day. */
export const parseDate = (text: string): number | undefined =>
  DAY.test(text) ? parseTime(`${text}T00:00:00Z`, 0) : undefined

/** Start or end of a report: a moment, or a whole day. */
export const dateOrTimeExpression = z
  .preprocess(given => (typeof given === 'number' ? String(given) : given), z.string())
  .refine(text => parseDate(text) !== undefined || parseTime(text, 0) !== undefined, {
    error: 'write a day such as 2026-01-31, RFC 3339, epoch milliseconds, now, or such as -7d',
  })
  .meta({ examples: ['2026-01-31', '-7d'] })

/** How far a period goes back from now. */
export const lookback = z
  .string()
  .refine(text => parseDuration(text.replace(/^-/, '')) !== undefined, {
    error: 'write a duration such as -1h or -7d',
  })
  .meta({ examples: ['-1h', '-7d'] })

/** ms that a look back spans. */
export const lookbackMs = (text: string) => parseDuration(text.replace(/^-/, '')) as number

/** Length of the buckets into which a period is divided. */
export const bucketInterval = z
  .string()
  .refine(text => parseDuration(text) !== undefined, { error: 'write a duration such as 100ms, 5m or 1d' })
  .meta({ examples: ['100ms', '5m', '1d'] })
