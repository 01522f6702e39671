import { type SQL, sql } from 'drizzle-orm'
import { textArray, toTimestamp, uuidArray } from '../../db/sql-values.ts'

// Queries for samples, from which all statistics are computed. A sample is a value that an event
// has added to a statistic of its channel, or the sum of such values of a whole minute or hour.

/** A half-open time interval: `from` is included and `to` excluded, both in epoch ms. */
export interface Period {
  from: number
  to: number
}

/** Statistics are stored per minute and per hour. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
/**
 * The statistic `alert` is the number of notifications. Its samples are the rows of the
 * table `notification`.
 */
export const NOTIFICATION_KEY = 'alert'
const ROLL_UPS: Record<RollUpUnit, RollUp> = {
  hour: { table: sql`statistic_hour`, lengthMs: HOUR_MS, finer: 'minute' },
  minute: { table: sql`statistic_minute`, lengthMs: MINUTE_MS, finer: 'exact' },
}

export const isNotificationKey = (key: string) => key === NOTIFICATION_KEY

/**
 * What a query returns samples for: each hour, each minute, or each event (`exact`),
 * which is the slowest.
 */
export type Precision = 'hour' | 'minute' | 'exact'

type RollUpUnit = Exclude<Precision, 'exact'>

/** A table of samples that combine all values of a minute or hour. */
interface RollUp {
  table: SQL
  lengthMs: number
  /**
   * The next higher precision, for the parts of a period that are shorter than the
   * samples of this table.
   */
  finer: Precision
}

/**
 * Builds a query of the samples of channels within a period. The rows have the columns channel_id,
 * key, time, sum, count, last, last_at and seq. At least one key is required.
 */
export function selectSamples(
  channelIds: readonly string[],
  keys: readonly string[],
  period: Period,
  precision: Precision,
): SQL {
  const storedKeys = keys.filter(key => !isNotificationKey(key))
  const queries: SQL[] = []
  if (storedKeys.length > 0) {
    const parts = splitPeriod(period, precision)
    queries.push(...parts.map(part => selectPart(channelIds, storedKeys, part)))
  }
  if (storedKeys.length < keys.length) queries.push(selectNotifications(channelIds, period))
  return sql.join(queries, sql` union all `)
}

/** A part of a period, and the precision in which it is read. */
interface PeriodPart extends Period {
  precision: Precision
}

/**
 * Splits a period into whole hours or minutes, and into shorter parts at its beginning and end
 * with a higher precision.
 */
function splitPeriod(period: Period, precision: Precision): PeriodPart[] {
  if (precision === 'exact') return [{ ...period, precision }]
  const { lengthMs, finer } = ROLL_UPS[precision]
  const start = Math.ceil(period.from / lengthMs) * lengthMs
  const end = Math.floor(period.to / lengthMs) * lengthMs
  if (start >= end) return splitPeriod(period, finer)

  const parts: PeriodPart[] = []
  if (period.from < start) parts.push(...splitPeriod({ from: period.from, to: start }, finer))
  parts.push({ from: start, to: end, precision })
  if (end < period.to) parts.push(...splitPeriod({ from: end, to: period.to }, finer))
  return parts
}

const selectPart = (channelIds: readonly string[], keys: readonly string[], part: PeriodPart) =>
  part.precision === 'exact'
    ? selectEvents(channelIds, keys, part)
    : selectRollUp(channelIds, keys, part, part.precision)

const selectEvents = (
  channelIds: readonly string[],
  keys: readonly string[],
  { from, to }: Period,
) => sql`
  select
    event.channel_id,
    statistic.key,
    event.time,
    statistic.value::float8 as sum,
    1::bigint as count,
    statistic.value::float8 as last,
    event.time as last_at,
    event.seq
  from event
  cross join lateral jsonb_each_text(event.statistics) statistic
  where event.channel_id = any (${uuidArray(channelIds)})
    and event.time >= ${toTimestamp(from)}
    and event.time < ${toTimestamp(to)}
    and statistic.key = any (${textArray(keys)})`

function selectRollUp(
  channelIds: readonly string[],
  keys: readonly string[],
  { from, to }: Period,
  unit: RollUpUnit,
): SQL {
  const { table } = ROLL_UPS[unit]
  // The table of hours has the column `hour`, and that of minutes the column `minute`.
  const time = sql.identifier(unit)
  return sql`
    select
      channel_id,
      key,
      ${time} as time,
      sum,
      count,
      last,
      last_at,
      0::bigint as seq
    from ${table}
    where channel_id = any (${uuidArray(channelIds)})
      and key = any (${textArray(keys)})
      and ${time} >= ${toTimestamp(from)}
      and ${time} < ${toTimestamp(to)}`
}

const selectNotifications = (channelIds: readonly string[], { from, to }: Period) => sql`
  select
    channel_id,
    ${NOTIFICATION_KEY}::text as key,
    notification_time as time,
    1::float8 as sum,
    1::bigint as count,
    1::float8 as last,
    notification_time as last_at,
    0::bigint as seq
  from notification
  where channel_id = any (${uuidArray(channelIds)})
    and notification_time >= ${toTimestamp(from)}
    and notification_time < ${toTimestamp(to)}`
