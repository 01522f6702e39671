import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { textArray, toTimestamp, uuidArray } from '../../db/sql-values.ts'
import { MINUTE_MS, selectSamples } from './samples.ts'

/** The latest value of a key on a channel. */
export interface LatestValue {
  channel_id: string
  key: string
  value: number
  /** Epoch ms. */
  timeMs: number
}

/**
 * Returns the latest values before a time (epoch ms). A key without values has no entry in the
 * result. Values of the minute that contains this time are read from the events, older values from
 * the statistics of whole minutes.
 */
export async function readLatestValues(
  tx: Transaction,
  channelIds: readonly string[],
  keys: readonly string[],
  before: number,
): Promise<LatestValue[]> {
  if (channelIds.length === 0 || keys.length === 0) return []
  const minuteStart = Math.floor(before / MINUTE_MS) * MINUTE_MS
  const currentMinute = selectSamples(channelIds, keys, { from: minuteStart, to: before }, 'exact')
  // `distinct on` returns the first candidate of each channel and key, which is the newest.
  const rows = await tx.execute<LatestValue & Record<string, unknown>>(sql`
    select distinct on (channel_id, key)
      channel_id,
      key,
      last as value,
      extract(epoch from last_at)::float8 * 1000 as "timeMs"
    from (
      select channel_id, key, last, last_at, seq
      from (${currentMinute}) current_minute
      union all
      select
        requested_channel.id,
        requested_key.name,
        latest_minute.last,
        latest_minute.last_at,
        0
      from unnest(${uuidArray(channelIds)}) requested_channel (id)
      cross join unnest(${textArray(keys)}) requested_key (name)
      cross join lateral (
        select last, last_at
        from statistic_minute
        where channel_id = requested_channel.id
          and key = requested_key.name
          and minute < ${toTimestamp(minuteStart)}
        order by minute desc
        limit 1
      ) latest_minute
    ) candidate
    order by channel_id, key, last_at desc, seq desc`)
  return [...rows]
}
