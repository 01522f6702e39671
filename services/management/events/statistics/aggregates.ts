import type { Aggregations } from '@eyrie/contract/management/statistic'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { latest } from './latest-values.ts'
import { type Period, samples, textArray } from './samples.ts'
import { type Aggregate, type Aggregates, standingKeys } from './totals.ts'

type Row = { channel_id: string; key: string; sum: number; count: number; last: number; last_at: number }

/** What was added to statistics of channels within a period, by channel and key. */
export async function aggregate(
  tx: Transaction,
  channels: readonly string[],
  stored: readonly string[],
  period: Period,
  own: Aggregations,
): Promise<Map<string, Aggregates>> {
  const byChannel = new Map<string, Map<string, Aggregate>>(channels.map(id => [id, new Map()]))
  if (channels.length === 0) return byChannel
  for (const { channel_id, key, value, at } of await latest(
    tx,
    channels,
    standingKeys(stored, own),
    period.to,
  ))
    byChannel.get(channel_id)?.set(key, { sum: 0, count: 0, last: value, lastAt: at })
  const rows = await tx.execute<Row>(sql`
    select channel_id, key, ${amounts(stored, own)}
    from (${samples(channels, stored, period, true)}) s group by channel_id, key`)
  for (const { channel_id, key, ...row } of rows) byChannel.get(channel_id)?.set(key, aggregateOf(row))
  return byChannel
}

/**
 * The columns of an aggregate over rows of samples. Which value is the newest is looked for only where that counts: it
 * takes sorting them.
 */
export const amounts = (
  stored: readonly string[],
  own: Aggregations,
) => sql`sum(sum)::float8 as sum, sum(count)::float8 as count,
  coalesce((array_agg(last order by last_at desc, seq desc) filter (where key = any (${textArray(standingKeys(stored, own))})))[1], 0)
    as last,
  extract(epoch from max(last_at))::float8 * 1000 as last_at`

export const aggregateOf = ({ sum, count, last, last_at }: Omit<Row, 'channel_id' | 'key'>): Aggregate => ({
  sum,
  count,
  last,
  lastAt: last_at,
})
