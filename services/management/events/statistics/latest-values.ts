import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { MINUTE_MS, selectSamples, textArray, toTimestamp, uuidArray } from './samples.ts'

/** The latest value of a key on a channel. */
export interface LatestValue {
  channel_id: string
  key: string
  value: number
  /** Epoch ms. */
  timeMs: number
}

/** Returns the latest values before a time (epoch ms). A key without any value is missing in the result. */
export async function readLatestValues(
  tx: Transaction,
  channelIds: readonly string[],
  keys: readonly string[],
  before: number,
): Promise<LatestValue[]> {
  if (channelIds.length === 0 || keys.length === 0) return []
  const minute = Math.floor(before / MINUTE_MS) * MINUTE_MS
  const currentMinute = selectSamples(channelIds, keys, { from: minute, to: before }, false)
  const rows = await tx.execute<LatestValue & Record<string, unknown>>(sql`
    select distinct on (channel_id, key) channel_id, key, last as value,
      extract(epoch from last_at)::float8 * 1000 as "timeMs"
    from (
      select channel_id, key, last, last_at, seq from (${currentMinute}) r
      union all
      select c.channel_id, k.key, m.last, m.last_at, 0
      from unnest(${uuidArray(channelIds)}) c (channel_id) cross join unnest(${textArray(keys)}) k (key)
      cross join lateral (
        select last, last_at from statistic_minute s
        where s.channel_id = c.channel_id and s.key = k.key and s.minute < ${toTimestamp(minute)}
        order by s.minute desc limit 1
      ) m
    ) candidates
    order by channel_id, key, last_at desc, seq desc`)
  return [...rows]
}
