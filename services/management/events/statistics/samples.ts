import { type SQL, sql } from 'drizzle-orm'
import { formatTextArray } from '../../db/text-array.ts'

// Queries for samples, the values from which all statistics of channels are computed.

/** A half-open time interval: `from` is included and `to` excluded, both in epoch ms. */
export interface Period {
  from: number
  to: number
}

/** Statistics are stored per minute and per hour. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

// A Postgres array is passed as one text parameter. Drizzle would expand a JavaScript array to a list of parameters.

export const textArray = (values: readonly string[]) => sql`${formatTextArray(values)}::text[]`
export const uuidArray = (ids: readonly string[]) => sql`${formatTextArray(ids)}::uuid[]`

/** Converts times in epoch ms to a Postgres array of timestamps. */
export const timestampArray = (timesMs: readonly number[]) =>
  sql`${formatTextArray(timesMs.map(ms => new Date(ms).toISOString()))}::timestamptz[]`

/** Converts epoch ms to a Postgres timestamp. */
export const toTimestamp = (ms: number) => sql`${new Date(ms).toISOString()}::timestamptz`

/** The key of the number of notifications, which is counted in the table `notification`. */
const NOTIFICATION_KEY = 'alert'
export const isNotificationKey = (key: string) => key === NOTIFICATION_KEY

/**
 * `hour` returns one row for each whole hour, `minute` one for each whole minute, which is slower, and `exact` one for each event.
 */
export type Precision = 'hour' | 'minute' | 'exact'

interface RollUp {
  table: SQL
  lengthMs: number
  /** The precision in which the beginning and the end of a period are read. */
  finer: Precision
}

const ROLL_UPS: Record<Exclude<Precision, 'exact'>, RollUp> = {
  hour: { table: sql`statistic_hour`, lengthMs: HOUR_MS, finer: 'minute' },
  minute: { table: sql`statistic_minute`, lengthMs: MINUTE_MS, finer: 'exact' },
}

/** A part of a period, and the precision in which it is read. */
interface PeriodPart extends Period {
  precision: Precision
}

/** Whole hours or minutes are read from the roll-ups, the rest of the period from finer ones or from the events. */
function splitPeriod(period: Period, precision: Precision): PeriodPart[] {
  if (precision === 'exact') return [{ ...period, precision }]
  const { lengthMs, finer } = ROLL_UPS[precision]
  const start = Math.ceil(period.from / lengthMs) * lengthMs
  const end = Math.floor(period.to / lengthMs) * lengthMs
  if (start >= end) return splitPeriod(period, finer)

  return [
    ...(period.from < start ? splitPeriod({ from: period.from, to: start }, finer) : []),
    { from: start, to: end, precision },
    ...(end < period.to ? splitPeriod({ from: end, to: period.to }, finer) : []),
  ]
}

/**
 * Builds a query of the samples of channels within a period. A sample is a value that an event or notification has added
 * to a statistic, or the values of a whole minute or hour. The rows have the columns channel_id, key, time, sum, count, last,
 * last_at and seq. At least one key is required.
 */
export function selectSamples(
  channelIds: readonly string[],
  keys: readonly string[],
  period: Period,
  precision: Precision,
): SQL {
  const storedKeys = keys.filter(key => !isNotificationKey(key))
  const queries: SQL[] = []
  if (storedKeys.length > 0)
    for (const part of splitPeriod(period, precision)) queries.push(selectPart(channelIds, storedKeys, part))
  if (storedKeys.length < keys.length) queries.push(selectNotifications(channelIds, period))
  return sql.join(queries, sql` union all `)
}

const selectPart = (channelIds: readonly string[], keys: readonly string[], part: PeriodPart) =>
  part.precision === 'exact'
    ? selectEvents(channelIds, keys, part)
    : selectRollUp(channelIds, keys, part, part.precision, ROLL_UPS[part.precision])

const selectEvents = (channelIds: readonly string[], keys: readonly string[], { from, to }: Period) => sql`
  select e.channel_id, s.key, e.time, s.value::float8 as sum, 1::bigint as count, s.value::float8 as last,
    e.time as last_at, e.seq
  from event e cross join lateral jsonb_each_text(e.statistics) s
  where e.channel_id = any (${uuidArray(channelIds)}) and e.time >= ${toTimestamp(from)}
    and e.time < ${toTimestamp(to)} and s.key = any (${textArray(keys)})`

const selectRollUp = (
  channelIds: readonly string[],
  keys: readonly string[],
  { from, to }: Period,
  column: Exclude<Precision, 'exact'>,
  { table }: RollUp,
) => sql`
  select channel_id, key, ${sql.identifier(column)} as time, sum, count, last, last_at, 0::bigint as seq
  from ${table}
  where channel_id = any (${uuidArray(channelIds)}) and key = any (${textArray(keys)})
    and ${sql.identifier(column)} >= ${toTimestamp(from)} and ${sql.identifier(column)} < ${toTimestamp(to)}`

const selectNotifications = (channelIds: readonly string[], { from, to }: Period) => sql`
  select channel_id, ${NOTIFICATION_KEY}::text as key, notification_time as time, 1::float8 as sum, 1::bigint as count,
    1::float8 as last, notification_time as last_at, 0::bigint as seq
  from notification
  where channel_id = any (${uuidArray(channelIds)}) and notification_time >= ${toTimestamp(from)}
    and notification_time < ${toTimestamp(to)}`
