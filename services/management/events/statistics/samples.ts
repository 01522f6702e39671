import { type SQL, sql } from 'drizzle-orm'

/** Epoch ms, the second not included. */
export interface Period {
  from: number
  to: number
}

/** Statistics are kept by minutes. */
export const MINUTE_MS = 60_000

/** An array parameter; lists of Drizzle's are rows to Postgres. */
export const textArray = (values: readonly string[]) =>
  sql`${`{${values.map(value => JSON.stringify(value)).join(',')}}`}::text[]`
export const uuidArray = (ids: readonly string[]) => sql`${`{${ids.join(',')}}`}::uuid[]`

export const at = (ms: number) => sql`${new Date(ms).toISOString()}::timestamptz`

/** Keys that are no column of statistics but counted from notifications. */
const notified = 'alert'
export const isNotified = (key: string) => key === notified

/**
 * A query of all that was added to statistics of channels within a period, as rows (channel_id, key, time, sum, count,
 * last, last_at, seq). There has to be a key. With `byMinute`, whole minutes come as one row each: for buckets of minutes
 * and longer.
 */
export function samples(
  channels: readonly string[],
  keys: readonly string[],
  period: Period,
  byMinute: boolean,
): SQL {
  const first = Math.ceil(period.from / MINUTE_MS) * MINUTE_MS
  const end = Math.floor(period.to / MINUTE_MS) * MINUTE_MS
  const stored = keys.filter(key => !isNotified(key))
  const whole =
    byMinute && end > first
      ? [
          messages(channels, stored, { from: period.from, to: first }),
          minutes(channels, stored, { from: first, to: end }),
          messages(channels, stored, { from: end, to: period.to }),
        ]
      : [messages(channels, stored, period)]
  const parts = [
    ...(stored.length > 0 ? whole : []),
    ...(stored.length < keys.length ? [notifications(channels, period)] : []),
  ]
  return sql.join(parts, sql` union all `)
}

const messages = (channels: readonly string[], keys: readonly string[], { from, to }: Period) => sql`
  select e.channel_id, s.key, e.time, s.value::float8 as sum, 1::bigint as count, s.value::float8 as last,
    e.time as last_at, e.seq
  from event e cross join lateral jsonb_each_text(e.statistics) s
  where e.channel_id = any (${uuidArray(channels)}) and e.time >= ${at(from)} and e.time < ${at(to)}
    and s.key = any (${textArray(keys)})`

const minutes = (channels: readonly string[], keys: readonly string[], { from, to }: Period) => sql`
  select channel_id, key, minute as time, sum, count, last, last_at, 0::bigint as seq
  from statistic_minute
  where channel_id = any (${uuidArray(channels)}) and key = any (${textArray(keys)})
    and minute >= ${at(from)} and minute < ${at(to)}`

const notifications = (channels: readonly string[], { from, to }: Period) => sql`
  select channel_id, ${notified}::text as key, notification_time as time, 1::float8 as sum, 1::bigint as count, 1::float8 as last,
    notification_time as last_at, 0::bigint as seq
  from notification
  where channel_id = any (${uuidArray(channels)}) and notification_time >= ${at(from)}
    and notification_time < ${at(to)}`
