import type { Aggregations } from '@eyrie/contract/management/statistic'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { readLatestValues } from './latest-values.ts'
import { type Period, selectSamples, textArray } from './samples.ts'
import { type Aggregate, type Aggregates, filterLastValueKeys } from './totals.ts'

/** The columns of `selectAggregateColumns`. */
export type AggregateRow = { key: string; sum: number; count: number; last: number; last_at: number }

/** Aggregates the statistics of channels over a period. Returns the aggregates by channel. */
export async function readAggregates(
  tx: Transaction,
  channelIds: readonly string[],
  storedKeys: readonly string[],
  period: Period,
  own: Aggregations,
): Promise<Map<string, Aggregates>> {
  const byChannel = new Map<string, Map<string, Aggregate>>(channelIds.map(id => [id, new Map()]))
  if (channelIds.length === 0) return byChannel
  const lastValueKeys = filterLastValueKeys(storedKeys, own)
  for (const { channel_id, key, value, timeMs } of await readLatestValues(
    tx,
    channelIds,
    lastValueKeys,
    period.to,
  ))
    byChannel.get(channel_id)?.set(key, { sum: 0, count: 0, last: value, lastAt: timeMs })
  const rows = await tx.execute<AggregateRow & { channel_id: string }>(sql`
    select channel_id, key, ${selectAggregateColumns(storedKeys, own)}
    from (${selectSamples(channelIds, storedKeys, period, true)}) s group by channel_id, key`)
  for (const row of rows) byChannel.get(row.channel_id)?.set(row.key, toAggregate(row))
  return byChannel
}

/** Selects the aggregate of a group of samples. Only the keys that need their latest value pay for sorting. */
export const selectAggregateColumns = (storedKeys: readonly string[], own: Aggregations) => sql`
  sum(sum)::float8 as sum, sum(count)::float8 as count,
  coalesce((array_agg(last order by last_at desc, seq desc)
    filter (where key = any (${textArray(filterLastValueKeys(storedKeys, own))})))[1], 0) as last,
  extract(epoch from max(last_at))::float8 * 1000 as last_at`

export const toAggregate = ({ sum, count, last, last_at }: AggregateRow): Aggregate => ({
  sum,
  count,
  last,
  lastAt: last_at,
})
