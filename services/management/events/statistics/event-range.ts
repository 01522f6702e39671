import type { EventRecord } from '@eyrie/contract/management/statistic-response'
import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { textArray, toTimestamp } from '../../db/sql-values.ts'
import { type AggregateRow, selectAggregateColumns, toAggregate } from './aggregates.ts'
import type { Buckets } from './buckets.ts'
import { readLatestValues } from './latest-values.ts'
import { readNewestEvents } from './newest-events.ts'
import { isNotificationKey, type Period, type Precision, selectSamples } from './samples.ts'
import {
  type Aggregate,
  computeTotals,
  filterLastValueKeys,
  type StatisticSelection,
  selectExistingKeys,
  type Totals,
  toStatistics,
  toStoredKeys,
} from './totals.ts'

/**
 * An event range is the history of a channel's statistics, divided into buckets such as hours or
 * days.
 */
export interface EventRangeOptions {
  channel_id: string
  /** Length of the window of the channel's moving average. */
  windowSeconds: number
  /** The statistics. Others are absent in the response. */
  selection: StatisticSelection
  period: Period
  buckets: Buckets
  /** Number of buckets to skip. */
  offset: number
  /** Maximum number of buckets. */
  limit: number
  /** Includes the newest events of each bucket. */
  details: boolean
}

/** Returns one page of buckets in order of time. Buckets without values are omitted. */
export async function readEventRange(
  tx: Transaction,
  options: EventRangeOptions,
): Promise<EventRecord[]> {
  const { channel_id: channelId, windowSeconds, period, buckets, offset, details } = options
  const keys = await readBucketKeys(tx, options)
  // A bucket at the edge of the period lies in it only partly.
  const bucketPeriods = keys.map(key => clip(buckets.toPeriod(key), period))
  const firstPeriod = bucketPeriods[0]
  const lastPeriod = bucketPeriods.at(-1)
  if (!firstPeriod || !lastPeriod) return []

  const pagePeriod = { from: firstPeriod.from, to: lastPeriod.to }
  const page = await readBucketAggregates(tx, options, keys, pagePeriod)
  const thresholds = await readThresholds(tx, options, pagePeriod)
  const newestEvents = details ? await readNewestEvents(tx, channelId, bucketPeriods) : []

  // All buckets of a page have the same fields.
  const storedKeys = page.flatMap(({ aggregates }) => [...aggregates.keys()])
  const availableKeys = selectExistingKeys(options.selection, storedKeys)

  return page.map(({ key, aggregates }, index): EventRecord => {
    const endMs = bucketPeriods[index]!.to
    const totals = computeTotals(
      aggregates,
      { ...options.selection, availableKeys },
      endMs,
      windowSeconds,
    )
    const events = newestEvents[index] ?? []
    const eventDetails = events.map(({ data, time }) => ({ ...data, time }))
    return {
      ...toStatistics(totals, listTracks(events)),
      id: offset + index + 1,
      metadata: details ? JSON.stringify(eventDetails) : '',
      threshold: thresholds.get(key) ?? '',
      time: new Date(buckets.toPeriod(key).from).toISOString(),
    }
  })
}

const clip = (bucket: Period, period: Period): Period => ({
  from: Math.max(bucket.from, period.from),
  to: Math.min(bucket.to, period.to),
})

/** Returns the ids of the objects tracked in events, without duplicates. */
function listTracks(events: readonly { data: Record<string, unknown> }[]): string[] {
  const tracks = events.map(({ data }) => data.track).filter(track => track !== undefined)
  return [...new Set(tracks.map(String))]
}

/**
 * The statistics of hours and minutes are precise enough for buckets that consist of whole ones.
 */
function getPrecision(buckets: Buckets, period: Period): Precision {
  if (!buckets.hasWholeMinutes) return 'exact'
  return buckets.hasWholeHours(period) ? 'hour' : 'minute'
}

interface BucketAggregates {
  /** Identifies the bucket, see `Buckets`. */
  key: number
  /** The combined values of each statistic by key. */
  aggregates: Map<string, Aggregate>
}

/** A channel, its statistics, and how they are divided in time. */
type BucketOptions = Pick<
  EventRangeOptions,
  'channel_id' | 'windowSeconds' | 'selection' | 'period' | 'buckets'
>

/** Returns the statistics of each of these buckets, also of those without values. */
export async function readBucketTotals(
  tx: Transaction,
  options: BucketOptions,
  bucketKeys: readonly number[],
): Promise<Totals[]> {
  const { selection, period, buckets, windowSeconds } = options
  const page = await readBucketAggregates(tx, options, bucketKeys, period)
  return page.map(({ key, aggregates }) => {
    const endMs = clip(buckets.toPeriod(key), period).to
    return computeTotals(aggregates, selection, endMs, windowSeconds)
  })
}

/**
 * Returns the aggregates of each bucket. A last value applies to all later buckets
 * until the next value.
 */
async function readBucketAggregates(
  tx: Transaction,
  { channel_id: channelId, selection: { keys, customAggregations }, buckets }: BucketOptions,
  bucketKeys: readonly number[],
  pagePeriod: Period,
): Promise<BucketAggregates[]> {
  const storedKeys = toStoredKeys(keys)
  const samples = selectSamples(
    [channelId],
    storedKeys,
    pagePeriod,
    getPrecision(buckets, pagePeriod),
  )
  const rows = await tx.execute<AggregateRow & { bucket: number }>(sql`
    select
      extract(epoch from ${buckets.select(sql`time`)})::float8 * 1000 as bucket,
      key,
      ${selectAggregateColumns(storedKeys, customAggregations)}
    from (${samples}) sample
    group by bucket, key`)
  const rowsByBucket = Map.groupBy(rows, ({ bucket }) => bucket)

  // The last values before the page. Each bucket then updates them for the next bucket.
  const lastValueKeys = filterLastValueKeys(storedKeys, customAggregations)
  const latestValues = await readLatestValues(tx, [channelId], lastValueKeys, pagePeriod.from)
  const lastValues = new Map<string, Aggregate>()
  for (const { key, value, timeMs } of latestValues) {
    lastValues.set(key, { sum: 0, count: 0, last: value, lastAt: timeMs })
  }

  return bucketKeys.map(bucketKey => {
    const aggregates = new Map(lastValues)
    for (const row of rowsByBucket.get(bucketKey) ?? []) {
      const aggregate = toAggregate(row)
      aggregates.set(row.key, aggregate)
      if (lastValueKeys.includes(row.key)) {
        lastValues.set(row.key, { ...aggregate, sum: 0, count: 0 })
      }
    }
    return { key: bucketKey, aggregates }
  })
}

/** Returns the keys of one page of buckets that have values. */
async function readBucketKeys(tx: Transaction, options: EventRangeOptions): Promise<number[]> {
  const { buckets, offset, limit } = options
  const candidates = buckets.hasWholeMinutes
    ? selectWholeMinuteBuckets(options)
    : selectShortBuckets(options)
  const rows = await tx.execute<{ bucket: number }>(sql`
    select extract(epoch from bucket)::float8 * 1000 as bucket
    from (${candidates}) candidate
    order by bucket
    offset ${offset}
    limit ${limit}`)
  return rows.map(({ bucket }) => bucket)
}

/** Selects buckets that consist of whole minutes. */
function selectWholeMinuteBuckets({
  channel_id: channelId,
  selection,
  period,
  buckets,
}: EventRangeOptions): SQL {
  const precision = getPrecision(buckets, period)
  const samples = selectSamples([channelId], toStoredKeys(selection.keys), period, precision)
  return sql`select distinct ${buckets.select(sql`time`)} as bucket from (${samples}) sample`
}

/**
 * Selects buckets that do not consist of whole minutes. A period may have very many short buckets,
 * so the events are scanned in order of time only until the page is full: an event whose bucket
 * differs from that of the previous event begins a new bucket. The function `jsonb_exists_any`
 * replaces the operator `?|`, for which Postgres would estimate few rows and sort all of them.
 */
function selectShortBuckets({
  channel_id: channelId,
  selection,
  period,
  buckets,
  offset,
  limit,
}: EventRangeOptions): SQL {
  const storedKeys = toStoredKeys(selection.keys)
  const bucket = buckets.select(sql`time`)
  const notificationKeys = storedKeys.filter(isNotificationKey)
  let notificationBuckets = sql``
  if (notificationKeys.length > 0) {
    const notifications = selectSamples([channelId], notificationKeys, period, 'exact')
    notificationBuckets = sql`union select ${bucket} from (${notifications}) sample`
  }
  return sql`
    (
      with contributing as (
        select ${bucket} as bucket, time
        from event
        where channel_id = ${channelId}::uuid
          and time >= ${toTimestamp(period.from)}
          and time < ${toTimestamp(period.to)}
          and jsonb_exists_any(statistics, ${textArray(storedKeys)})
      ),
      neighbors as (
        -- The bucket of each event, and that of the event before it.
        select
          bucket,
          lag(bucket) over (order by time) as previous_bucket
        from contributing
      )
      select bucket
      from neighbors
      where bucket is distinct from previous_bucket
      limit ${offset + limit}
    )
    ${notificationBuckets}`
}

/** Returns the thresholds of the alerts that fired in each bucket, separated by commas. */
async function readThresholds(
  tx: Transaction,
  { channel_id: channelId, buckets }: EventRangeOptions,
  { from, to }: Period,
): Promise<Map<number, string>> {
  const bucket = buckets.select(sql`notification_time`)
  const rows = await tx.execute<{ bucket: number; threshold: string }>(sql`
    select
      extract(epoch from ${bucket})::float8 * 1000 as bucket,
      string_agg(distinct threshold, ',') as threshold
    from notification
    where channel_id = ${channelId}::uuid
      and notification_time >= ${toTimestamp(from)}
      and notification_time < ${toTimestamp(to)}
    group by bucket`)
  return new Map(rows.map(({ bucket, threshold }) => [bucket, threshold]))
}
