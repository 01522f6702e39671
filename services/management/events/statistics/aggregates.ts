import type { Aggregations } from '@eyrie/contract/management/statistic'
import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { textArray } from '../../db/sql-values.ts'
import { readLatestValues } from './latest-values.ts'
import { type Period, selectSamples } from './samples.ts'
import { type Aggregate, type Aggregates, filterLastValueKeys } from './totals.ts'

/**
 * A row of a query with the columns of `selectAggregateColumns`. It combines samples, the values of
 * a statistic over time.
 */
export type AggregateRow = {
  key: string
  sum: number
  count: number
  last: number
  last_at: number
}

/**
 * Combines the samples of channels over a period. Returns the sums, counts and latest values by
 * channel and key. A latest value may be older than the period.
 */
export async function readAggregates(
  tx: Transaction,
  channelIds: readonly string[],
  storedKeys: readonly string[],
  period: Period,
  customAggregations: Aggregations,
): Promise<Map<string, Aggregates>> {
  const byChannel = new Map<string, Map<string, Aggregate>>()
  for (const channelId of channelIds) byChannel.set(channelId, new Map())
  if (channelIds.length === 0) return byChannel

  const lastValueKeys = filterLastValueKeys(storedKeys, customAggregations)
  const latestValues = await readLatestValues(tx, channelIds, lastValueKeys, period.to)
  for (const { channel_id: channelId, key, value, timeMs } of latestValues) {
    byChannel.get(channelId)?.set(key, { sum: 0, count: 0, last: value, lastAt: timeMs })
  }

  // For a key with samples in the period, this replaces the entry with the latest value.
  const samples = selectSamples(channelIds, storedKeys, period, 'hour')
  const rows = await tx.execute<AggregateRow & { channel_id: string }>(sql`
    select
      channel_id,
      key,
      ${selectAggregateColumns(storedKeys, customAggregations)}
    from (${samples}) sample
    group by channel_id, key`)
  for (const row of rows) byChannel.get(row.channel_id)?.set(row.key, toAggregate(row))
  return byChannel
}

/**
 * Returns the columns `sum`, `count`, `last` and `last_at` for a query that groups samples by
 * key. `last` is 0 for keys whose latest value is not needed, because finding it requires
 * sorting the samples.
 */
export function selectAggregateColumns(
  storedKeys: readonly string[],
  customAggregations: Aggregations,
): SQL {
  const lastValueKeys = filterLastValueKeys(storedKeys, customAggregations)
  return sql`
    sum(sum)::float8 as sum,
    sum(count)::float8 as count,
    -- The first element of the values in descending order of time.
    coalesce(
      (
        array_agg(last order by last_at desc, seq desc)
          filter (where key = any (${textArray(lastValueKeys)}))
      )[1],
      0
    ) as last,
    extract(epoch from max(last_at))::float8 * 1000 as last_at`
}

export const toAggregate = ({ sum, count, last, last_at: lastAt }: AggregateRow): Aggregate => ({
  sum,
  count,
  last,
  lastAt,
})
