import type { EventRecord } from '@eyrie/contract/management/statistic-response'
import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { type AggregateRow, selectAggregateColumns, toAggregate } from './aggregates.ts'
import { readLatestValues } from './latest-values.ts'
import { readNewestEvents } from './newest-events.ts'
import {
  isNotificationKey,
  MINUTE_MS,
  type Period,
  type Precision,
  selectSamples,
  textArray,
  toTimestamp,
} from './samples.ts'
import {
  type Aggregate,
  computeTotals,
  filterLastValueKeys,
  type StatisticSelection,
  selectExistingKeys,
  toStatistics,
  toStoredKeys,
} from './totals.ts'

/** An event range is the history of a channel's statistics, divided into buckets of equal length. */
export interface EventRangeOptions {
  channel_id: string
  /** Length of the window of the channel's moving average. */
  windowSeconds: number
  /** The statistics. Others are absent in the response. */
  selection: StatisticSelection
  period: Period
  /** Length of a bucket. */
  bucketMs: number
  /** Number of buckets to skip. */
  offset: number
  /** Maximum number of buckets. */
  limit: number
  /** Includes the newest events of each bucket. */
  details: boolean
}

/** Buckets are aligned to a Monday, so that weekly buckets start on Mondays. */
const BUCKET_ORIGIN = sql`timestamptz '1970-01-05 00:00:00+00'`

/** Returns an SQL expression for the start of the bucket that a time belongs to. */
const selectBucket = (bucketMs: number, time: SQL) =>
  sql`date_bin(${bucketMs} * interval '1 millisecond', ${time}, ${BUCKET_ORIGIN})`

/** Returns one page of buckets in order of time. Buckets without values are omitted. */
export async function readEventRange(tx: Transaction, options: EventRangeOptions): Promise<EventRecord[]> {
  const { channel_id, windowSeconds, period, bucketMs, offset, details } = options
  const bucketStarts = await readBucketStarts(tx, options)
  const firstStart = bucketStarts[0]
  const lastStart = bucketStarts.at(-1)
  if (firstStart === undefined || lastStart === undefined) return []

  const pagePeriod = {
    from: Math.max(period.from, firstStart),
    to: Math.min(period.to, lastStart + bucketMs),
  }

  const buckets = await readBucketAggregates(tx, options, bucketStarts, pagePeriod)
  const thresholds = await readThresholds(tx, options, pagePeriod)
  const newestEvents = details ? await readNewestEvents(tx, channel_id, bucketStarts, bucketMs, period) : []

  // All buckets of a page have the same fields.
  const storedKeys = buckets.flatMap(({ aggregates }) => [...aggregates.keys()])
  const usecaseKeys = selectExistingKeys(options.selection, storedKeys)

  return buckets.map(({ start, aggregates }, index): EventRecord => {
    const endMs = Math.min(start + bucketMs, period.to)
    const totals = computeTotals(aggregates, { ...options.selection, usecaseKeys }, endMs, windowSeconds)
    const events = newestEvents[index] ?? []
    const eventDetails = events.map(({ data, time }) => ({ ...data, time }))
    return {
      ...toStatistics(totals, listTracks(events)),
      id: offset + index + 1,
      metadata: details ? JSON.stringify(eventDetails) : '',
      threshold: thresholds.get(start) ?? '',
      time: new Date(start).toISOString(),
    }
  })
}

/** Returns the ids of the objects tracked in events, without duplicates. */
function listTracks(events: readonly { data: Record<string, unknown> }[]): string[] {
  const tracks = events.map(({ data }) => data.track).filter(track => track !== undefined)
  return [...new Set(tracks.map(String))]
}

/** Minute statistics are precise enough for buckets that consist of whole minutes. */
const bucketPrecision = (bucketMs: number): Precision => (bucketMs % MINUTE_MS === 0 ? 'minute' : 'exact')

interface Bucket {
  /** Epoch ms. */
  start: number
  /** The combined values of each statistic by key. */
  aggregates: Map<string, Aggregate>
}

/** Returns the aggregates of each bucket. A last value applies to all later buckets until the next value. */
async function readBucketAggregates(
  tx: Transaction,
  { channel_id, selection: { keys, customAggregations }, bucketMs }: EventRangeOptions,
  bucketStarts: readonly number[],
  pagePeriod: Period,
): Promise<Bucket[]> {
  const storedKeys = toStoredKeys(keys)
  const samples = selectSamples([channel_id], storedKeys, pagePeriod, bucketPrecision(bucketMs))
  const rows = await tx.execute<AggregateRow & { bucket: number }>(sql`
    select extract(epoch from ${selectBucket(bucketMs, sql`time`)})::float8 * 1000 as bucket, key,
      ${selectAggregateColumns(storedKeys, customAggregations)}
    from (${samples}) s group by bucket, key`)
  const rowsByBucket = Map.groupBy(rows, ({ bucket }) => bucket)

  // The last values before the page. Each bucket then updates them for the next bucket.
  const lastValueKeys = filterLastValueKeys(storedKeys, customAggregations)
  const latestValues = await readLatestValues(tx, [channel_id], lastValueKeys, pagePeriod.from)
  const lastValues = new Map<string, Aggregate>()
  for (const { key, value, timeMs } of latestValues)
    lastValues.set(key, { sum: 0, count: 0, last: value, lastAt: timeMs })

  return bucketStarts.map(start => {
    const aggregates = new Map(lastValues)
    for (const row of rowsByBucket.get(start) ?? []) {
      const aggregate = toAggregate(row)
      aggregates.set(row.key, aggregate)
      if (lastValueKeys.includes(row.key)) lastValues.set(row.key, { ...aggregate, sum: 0, count: 0 })
    }
    return { start, aggregates }
  })
}

/** Returns the start times (epoch ms) of one page of buckets that have values. */
async function readBucketStarts(tx: Transaction, options: EventRangeOptions): Promise<number[]> {
  const { bucketMs, offset, limit } = options
  const hasWholeMinutes = bucketPrecision(bucketMs) === 'minute'
  const candidates = hasWholeMinutes ? selectWholeMinuteBuckets(options) : selectShortBuckets(options)
  const rows = await tx.execute<{ bucket: number }>(sql`
    select extract(epoch from bucket)::float8 * 1000 as bucket from (${candidates}) b
    order by bucket offset ${offset} limit ${limit}`)
  return rows.map(({ bucket }) => bucket)
}

/** Selects buckets that consist of whole minutes. */
function selectWholeMinuteBuckets({ channel_id, selection, period, bucketMs }: EventRangeOptions): SQL {
  const samples = selectSamples([channel_id], toStoredKeys(selection.keys), period, 'minute')
  return sql`select distinct ${selectBucket(bucketMs, sql`time`)} as bucket from (${samples}) s`
}

/**
 * Selects buckets that do not consist of whole minutes. A period may have very many short buckets, so the events are
 * scanned in order of time only until the page is full: an event whose bucket differs from that of the previous event
 * begins a new bucket. The function `jsonb_exists_any` replaces the operator `?|`, for which Postgres would estimate few
 * rows and sort all of them.
 */
function selectShortBuckets({
  channel_id,
  selection,
  period,
  bucketMs,
  offset,
  limit,
}: EventRangeOptions): SQL {
  const storedKeys = toStoredKeys(selection.keys)
  const bucket = selectBucket(bucketMs, sql`time`)
  const notificationKeys = storedKeys.filter(isNotificationKey)
  let notificationBuckets = sql``
  if (notificationKeys.length > 0) {
    const notifications = selectSamples([channel_id], notificationKeys, period, 'exact')
    notificationBuckets = sql`union select ${bucket} from (${notifications}) s`
  }
  return sql`
    (with contributing as (
      select ${bucket} as bucket, time from event
      where channel_id = ${channel_id}::uuid and time >= ${toTimestamp(period.from)}
        and time < ${toTimestamp(period.to)} and jsonb_exists_any(statistics, ${textArray(storedKeys)})
    ), neighbors as (
      select bucket, lag(bucket) over (order by time) as previous from contributing
    )
    select bucket from neighbors where bucket is distinct from previous limit ${offset + limit})
    ${notificationBuckets}`
}

/** Returns the thresholds of the alerts that fired in each bucket, separated by commas. */
async function readThresholds(
  tx: Transaction,
  { channel_id, bucketMs }: EventRangeOptions,
  { from, to }: Period,
): Promise<Map<number, string>> {
  const bucket = selectBucket(bucketMs, sql`notification_time`)
  const rows = await tx.execute<{ bucket: number; threshold: string }>(sql`
    select extract(epoch from ${bucket})::float8 * 1000 as bucket, string_agg(distinct threshold, ',') as threshold
    from notification
    where channel_id = ${channel_id}::uuid and notification_time >= ${toTimestamp(from)}
      and notification_time < ${toTimestamp(to)}
    group by bucket`)
  return new Map(rows.map(({ bucket, threshold }) => [bucket, threshold]))
}
