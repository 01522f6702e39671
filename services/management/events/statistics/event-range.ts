import type { Aggregations, EventRecord } from '@eyrie/contract/management/statistic'
import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { type AggregateRow, selectAggregateColumns, toAggregate } from './aggregates.ts'
import { readLatestValues } from './latest-values.ts'
import { readNewestEvents } from './newest-events.ts'
import {
  isNotificationKey,
  MINUTE_MS,
  type Period,
  selectSamples,
  textArray,
  toTimestamp,
} from './samples.ts'
import { type Aggregate, computeTotals, filterLastValueKeys, toStatistics, toStoredKeys } from './totals.ts'

export interface EventRangeOptions {
  channel_id: string
  /** Length of the window of the channel's moving average. */
  seconds: number
  keys: readonly string[]
  /** The keys that only the usecase has. */
  own: Aggregations
  period: Period
  /** Length of a bucket. */
  lengthMs: number
  offset: number
  limit: number
  details: boolean
}

/** Buckets are aligned to a Monday, so that weekly buckets start on Mondays. */
const ORIGIN = sql`timestamptz '1970-01-05 00:00:00+00'`

const selectBucket = (lengthMs: number, time: SQL) =>
  sql`date_bin(${lengthMs} * interval '1 millisecond', ${time}, ${ORIGIN})`

/** Returns the statistics of a channel by buckets, in order of time. Buckets without values are omitted. */
export async function readEventRange(tx: Transaction, options: EventRangeOptions): Promise<EventRecord[]> {
  const { channel_id, seconds, keys, own, period, lengthMs, offset, details } = options
  const storedKeys = toStoredKeys(keys)
  const buckets = await readBuckets(tx, storedKeys, options)
  const first = buckets[0]
  const last = buckets.at(-1)
  if (first === undefined || last === undefined) return []
  const pagePeriod = { from: Math.max(period.from, first), to: Math.min(period.to, last + lengthMs) }

  const rows = await tx.execute<AggregateRow & { bucket: number }>(sql`
    select extract(epoch from ${selectBucket(lengthMs, sql`time`)})::float8 * 1000 as bucket, key,
      ${selectAggregateColumns(storedKeys, own)}
    from (${selectSamples([channel_id], storedKeys, pagePeriod, lengthMs % MINUTE_MS === 0)}) s group by 1, key`)
  const rowsByBucket = Map.groupBy(rows, row => row.bucket)
  const thresholds = await readThresholds(tx, options, pagePeriod)
  const newestEvents = details ? await readNewestEvents(tx, channel_id, buckets, lengthMs, period) : undefined

  // Last values are carried from bucket to bucket; the first bucket starts with those before the page.
  const lastValueKeys = new Set(filterLastValueKeys(storedKeys, own))
  const carried = new Map<string, Aggregate>()
  for (const { key, value, timeMs } of await readLatestValues(
    tx,
    [channel_id],
    [...lastValueKeys],
    pagePeriod.from,
  ))
    carried.set(key, { sum: 0, count: 0, last: value, lastAt: timeMs })

  return buckets.map((start, index): EventRecord => {
    const aggregates = new Map(carried)
    for (const row of rowsByBucket.get(start) ?? []) {
      const aggregate = toAggregate(row)
      aggregates.set(row.key, aggregate)
      if (lastValueKeys.has(row.key)) carried.set(row.key, { ...aggregate, sum: 0, count: 0 })
    }
    const end = Math.min(start + lengthMs, period.to)
    const events = newestEvents?.[index] ?? []
    const tracks = events.flatMap(({ data }) => (data.track === undefined ? [] : String(data.track)))
    return {
      ...toStatistics(computeTotals(aggregates, keys, end, seconds, own), [...new Set(tracks)]),
      id: offset + index + 1,
      metadata: details ? JSON.stringify(events.map(({ data, time }) => ({ ...data, time }))) : '',
      threshold: thresholds.get(start) ?? '',
      time: new Date(start).toISOString(),
    }
  })
}

/**
 * Returns the start times (epoch ms) of one page of buckets. Buckets shorter than a minute may be very numerous: they are
 * found by scanning the events in order of time until the page is full. (`jsonb_exists_any` instead of the operator `?|`,
 * for which Postgres expects so few rows that it would sort them all.)
 */
async function readBuckets(
  tx: Transaction,
  storedKeys: readonly string[],
  { channel_id, period, lengthMs, offset, limit }: EventRangeOptions,
): Promise<number[]> {
  const bucket = selectBucket(lengthMs, sql`time`)
  const notificationKeys = storedKeys.filter(isNotificationKey)
  const notificationBuckets =
    notificationKeys.length > 0
      ? sql`union select ${bucket} from (${selectSamples([channel_id], notificationKeys, period, false)}) s`
      : sql``
  const candidates =
    lengthMs % MINUTE_MS === 0
      ? sql`select distinct ${bucket} as bucket from (${selectSamples([channel_id], storedKeys, period, true)}) s`
      : sql`
        (select bucket from (
          select bucket, lag(bucket) over (order by time) as previous from (
            select ${bucket} as bucket, time from event
            where channel_id = ${channel_id}::uuid and time >= ${toTimestamp(period.from)}
              and time < ${toTimestamp(period.to)} and jsonb_exists_any(statistics, ${textArray(storedKeys)})
          ) contributing
        ) changes where bucket is distinct from previous limit ${offset + limit})
        ${notificationBuckets}`
  const rows = await tx.execute<{ bucket: number }>(sql`
    select extract(epoch from bucket)::float8 * 1000 as bucket from (${candidates}) b
    order by 1 offset ${offset} limit ${limit}`)
  return rows.map(row => row.bucket)
}

/** Returns the thresholds of the alerts that fired, comma-separated, by bucket. */
async function readThresholds(
  tx: Transaction,
  { channel_id, lengthMs }: EventRangeOptions,
  { from, to }: Period,
): Promise<Map<number, string>> {
  const bucket = selectBucket(lengthMs, sql`notification_time`)
  const rows = await tx.execute<{ bucket: number; threshold: string }>(sql`
    select extract(epoch from ${bucket})::float8 * 1000 as bucket, string_agg(distinct threshold, ',') as threshold
    from notification
    where channel_id = ${channel_id}::uuid and notification_time >= ${toTimestamp(from)}
      and notification_time < ${toTimestamp(to)}
    group by 1`)
  return new Map(rows.map(({ bucket, threshold }) => [bucket, threshold]))
}
