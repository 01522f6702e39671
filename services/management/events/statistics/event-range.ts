import type { Aggregations, EventRecord } from '@eyrie/contract/management/statistic'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { aggregateOf, amounts } from './aggregates.ts'
import { latest } from './latest-values.ts'
import { newestEvents } from './newest-events.ts'
import { at, isNotified, MINUTE_MS, type Period, samples, textArray } from './samples.ts'
import { type Aggregate, fieldsOf, standingKeys, storedKeysOf, totalsOf } from './totals.ts'

export interface RangeOptions {
  channel_id: string
  /** Over which the channel's moving average is taken. */
  seconds: number
  keys: readonly string[]
  /** Those that the usecase has of its own. */
  own: Aggregations
  period: Period
  /** Length of a bucket. */
  lengthMs: number
  offset: number
  limit: number
  details: boolean
}

/** Buckets are counted from here: a Monday, so that weeks begin as weeks do. */
const ORIGIN = sql`timestamptz '1970-01-05 00:00:00+00'`

type Row = { bucket: number; key: string; sum: number; count: number; last: number; last_at: number }

/** What happened on a channel by buckets of time, those in which something did, in the order of time. */
export async function eventsByRange(tx: Transaction, options: RangeOptions): Promise<EventRecord[]> {
  const { channel_id, keys, own, period, lengthMs, offset } = options
  const stored = storedKeysOf(keys)
  const bucket = sql`date_bin(${lengthMs} * interval '1 millisecond', time, ${ORIGIN})`
  const byMinute = lengthMs % MINUTE_MS === 0
  const buckets = await bucketsOf(tx, { ...options, stored })
  const [first, last] = [buckets[0], buckets.at(-1)]
  if (first === undefined || last === undefined) return []
  const shown = { from: Math.max(period.from, first), to: Math.min(period.to, last + lengthMs) }
  const rows = await tx.execute<Row>(sql`
    select extract(epoch from ${bucket})::float8 * 1000 as bucket, key, ${amounts(stored, own)}
    from (${samples([channel_id], stored, shown, byMinute)}) s group by 1, key`)
  const byBucket = Map.groupBy(rows, row => row.bucket)
  const standing = new Map<string, Aggregate>(
    (await latest(tx, [channel_id], standingKeys(stored, own), shown.from)).map(each => [
      each.key,
      { sum: 0, count: 0, last: each.value, lastAt: each.at },
    ]),
  )
  const thresholds = await thresholdsOf(tx, options, shown)
  const told = options.details ? await newestEvents(tx, channel_id, buckets, lengthMs, period) : undefined
  return buckets.map((begin, n): EventRecord => {
    const added = (byBucket.get(begin) ?? []).map(row => [row.key, aggregateOf(row)] as const)
    const aggregates = new Map([...standing, ...added])
    for (const [key, { last, lastAt }] of added)
      if (standingKeys([key], own).length > 0) standing.set(key, { sum: 0, count: 0, last, lastAt })
    const end = Math.min(begin + lengthMs, period.to)
    const events = told?.[n] ?? []
    const tracks = events.flatMap(({ data }) => (data.track === undefined ? [] : String(data.track)))
    return {
      ...fieldsOf(totalsOf(aggregates, keys, end, options.seconds, own), [...new Set(tracks)]),
      id: offset + n + 1,
      metadata: told ? JSON.stringify(events.map(({ data, time }) => ({ ...data, time }))) : '',
      threshold: thresholds.get(begin) ?? '',
      time: new Date(begin).toISOString(),
    }
  })
}

/**
 * The beginnings, epoch ms, of the buckets of a page. Those of less than a minute are found by going through the messages
 * in the order of their times until the page is full, since there may be very many. (Of the operator `?|` Postgres believes
 * that it finds hardly any, and would sort them all.)
 */
async function bucketsOf(
  tx: Transaction,
  options: RangeOptions & { stored: readonly string[] },
): Promise<number[]> {
  const { channel_id, stored, period, lengthMs, offset, limit } = options
  const bucket = sql`date_bin(${lengthMs} * interval '1 millisecond', time, ${ORIGIN})`
  const notified = stored.filter(isNotified)
  const alerted =
    notified.length > 0
      ? sql`union select ${bucket} from (${samples([channel_id], notified, period, false)}) s`
      : sql``
  const candidates =
    lengthMs % MINUTE_MS === 0
      ? sql`select distinct ${bucket} as bucket from (${samples([channel_id], stored, period, true)}) s`
      : sql`
        (select bucket from (
          select bucket, lag(bucket) over (order by time) as before from (
            select ${bucket} as bucket, time from event
            where channel_id = ${channel_id}::uuid and time >= ${at(period.from)} and time < ${at(period.to)}
              and jsonb_exists_any(statistics, ${textArray(stored)})
          ) told
        ) changes where bucket is distinct from before limit ${offset + limit})
        ${alerted}`
  const found = await tx.execute<{ bucket: number }>(sql`
    select extract(epoch from bucket)::float8 * 1000 as bucket from (${candidates}) b
    order by 1 offset ${offset} limit ${limit}`)
  return found.map(row => row.bucket)
}

/** Thresholds of the alerts that fired, by bucket. */
async function thresholdsOf(tx: Transaction, { channel_id, lengthMs }: RangeOptions, { from, to }: Period) {
  const bucket = sql`date_bin(${lengthMs} * interval '1 millisecond', notification_time, ${ORIGIN})`
  const rows = await tx.execute<{ bucket: number; threshold: string }>(sql`
    select extract(epoch from ${bucket})::float8 * 1000 as bucket, string_agg(distinct threshold, ',') as threshold
    from notification
    where channel_id = ${channel_id}::uuid and notification_time >= ${at(from)} and notification_time < ${at(to)}
    group by 1`)
  return new Map(rows.map(({ bucket, threshold }) => [bucket, threshold]))
}
