import { type SQL, sql } from 'drizzle-orm'
import { formatTextArray } from '../../db/text-array.ts'

/** Epoch ms; `to` is excluded. */
export interface Period {
  from: number
  to: number
}

/** Statistics are stored per minute. */
export const MINUTE_MS = 60_000

/** Array parameters: Drizzle expands a plain list to a row. */
export const textArray = (values: readonly string[]) => sql`${formatTextArray(values)}::text[]`
export const uuidArray = (ids: readonly string[]) => sql`${`{${ids.join(',')}}`}::uuid[]`

/** Converts epoch ms. */
export const toTimestamp = (ms: number) => sql`${new Date(ms).toISOString()}::timestamptz`

/** The key that counts notifications; it has no stored statistics. */
const NOTIFICATION_KEY = 'alert'
export const isNotificationKey = (key: string) => key === NOTIFICATION_KEY

/**
 * Builds a query of all values added to statistics of channels within a period, as rows (channel_id, key, time, sum, count,
 * last, last_at, seq). At least one key is required. With `byMinute`, whole minutes are one row each, for buckets whose
 * length is a multiple of a minute.
 */
export function selectSamples(
  channelIds: readonly string[],
  keys: readonly string[],
  period: Period,
  byMinute: boolean,
): SQL {
  const storedKeys = keys.filter(key => !isNotificationKey(key))
  const parts: SQL[] = []
  if (storedKeys.length > 0) {
    const firstMinute = Math.ceil(period.from / MINUTE_MS) * MINUTE_MS
    const lastMinute = Math.floor(period.to / MINUTE_MS) * MINUTE_MS
    if (byMinute && lastMinute > firstMinute)
      parts.push(
        selectEvents(channelIds, storedKeys, { from: period.from, to: firstMinute }),
        selectMinutes(channelIds, storedKeys, { from: firstMinute, to: lastMinute }),
        selectEvents(channelIds, storedKeys, { from: lastMinute, to: period.to }),
      )
    else parts.push(selectEvents(channelIds, storedKeys, period))
  }
  if (storedKeys.length < keys.length) parts.push(selectNotifications(channelIds, period))
  return sql.join(parts, sql` union all `)
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
