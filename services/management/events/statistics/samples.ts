import { type SQL, sql } from 'drizzle-orm'
import { formatTextArray } from '../../db/text-array.ts'

// Queries for samples, the values from which all statistics of channels are computed.

/** A half-open time interval: `from` is included and `to` excluded, both in epoch ms. */
export interface Period {
  from: number
  to: number
}

/** Statistics are stored per minute. */
export const MINUTE_MS = 60_000

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

/** `minute` returns one row for each whole minute, which is faster. `exact` returns one row for each event. */
export type Precision = 'minute' | 'exact'

/**
 * Builds a query of the samples of channels within a period. A sample is a value that an event or notification has added
 * to a statistic, or the values of a whole minute. The rows have the columns channel_id, key, time, sum, count, last,
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
  if (storedKeys.length > 0) queries.push(...selectStoredSamples(channelIds, storedKeys, period, precision))
  if (storedKeys.length < keys.length) queries.push(selectNotifications(channelIds, period))
  return sql.join(queries, sql` union all `)
}

/** Samples of whole minutes are read from the minute statistics, those of the rest of the period from the events. */
function selectStoredSamples(
  channelIds: readonly string[],
  keys: readonly string[],
  period: Period,
  precision: Precision,
): SQL[] {
  const minutesStart = Math.ceil(period.from / MINUTE_MS) * MINUTE_MS
  const minutesEnd = Math.floor(period.to / MINUTE_MS) * MINUTE_MS
  const hasWholeMinutes = minutesStart < minutesEnd
  if (precision === 'exact' || !hasWholeMinutes) return [selectEvents(channelIds, keys, period)]

  return [
    selectEvents(channelIds, keys, { from: period.from, to: minutesStart }),
    selectMinutes(channelIds, keys, { from: minutesStart, to: minutesEnd }),
    selectEvents(channelIds, keys, { from: minutesEnd, to: period.to }),
  ]
}

const selectEvents = (channelIds: readonly string[], keys: readonly string[], { from, to }: Period) => sql`
  select e.channel_id, s.key, e.time, s.value::float8 as sum, 1::bigint as count, s.value::float8 as last,
    e.time as last_at, e.seq
  from event e cross join lateral jsonb_each_text(e.statistics) s
  where e.channel_id = any (${uuidArray(channelIds)}) and e.time >= ${toTimestamp(from)}
    and e.time < ${toTimestamp(to)} and s.key = any (${textArray(keys)})`

const selectMinutes = (channelIds: readonly string[], keys: readonly string[], { from, to }: Period) => sql`
  select channel_id, key, minute as time, sum, count, last, last_at, 0::bigint as seq
  from statistic_minute
  where channel_id = any (${uuidArray(channelIds)}) and key = any (${textArray(keys)})
    and minute >= ${toTimestamp(from)} and minute < ${toTimestamp(to)}`

const selectNotifications = (channelIds: readonly string[], { from, to }: Period) => sql`
  select channel_id, ${NOTIFICATION_KEY}::text as key, notification_time as time, 1::float8 as sum, 1::bigint as count,
    1::float8 as last, notification_time as last_at, 0::bigint as seq
  from notification
  where channel_id = any (${uuidArray(channelIds)}) and notification_time >= ${toTimestamp(from)}
    and notification_time < ${toTimestamp(to)}`
