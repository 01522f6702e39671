import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { at, MINUTE_MS, samples, textArray, uuidArray } from './samples.ts'

/** The newest value of a key on a channel. */
export interface Latest {
  channel_id: string
  key: string
  value: number
  /** Epoch ms. */
  at: number
}

/** The newest values before a moment, epoch ms. Where there never was one, there is none. */
export async function latest(
  tx: Transaction,
  channels: readonly string[],
  keys: readonly string[],
  before: number,
): Promise<Latest[]> {
  if (channels.length === 0 || keys.length === 0) return []
  const minute = Math.floor(before / MINUTE_MS) * MINUTE_MS
  const recent = samples(channels, keys, { from: minute, to: before }, false)
  const rows = await tx.execute<Latest & Record<string, unknown>>(sql`
    select distinct on (channel_id, key) channel_id, key, last as value, extract(epoch from last_at)::float8 * 1000 as at
    from (
      select channel_id, key, last, last_at, seq from (${recent}) r
      union all
      select c.channel_id, k.key, m.last, m.last_at, 0
      from unnest(${uuidArray(channels)}) c (channel_id) cross join unnest(${textArray(keys)}) k (key)
      cross join lateral (
        select last, last_at from statistic_minute s
        where s.channel_id = c.channel_id and s.key = k.key and s.minute < ${at(minute)}
        order by s.minute desc limit 1
      ) m
    ) all_of_them
    order by channel_id, key, last_at desc, seq desc`)
  return [...rows]
}
