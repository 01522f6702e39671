import type { FeedCounts } from '@eyrie/contract/management/feed'
import {
  type Aggregations,
  computeStatistic,
  getAggregation,
} from '@eyrie/contract/management/statistic'
import { sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { publishMessages } from './publish-message.ts'

// Live counts are the current values of the statistics of channels, which the live feed publishes.
// Sums and counts start over each day, in the time zone of the channel's site.

/** Values that were added to a statistic of a channel within a minute. */
export interface AddedCount {
  channel_id: string
  key: string
  minute: Date
  sum: number
  count: number
  last: number
  last_at: Date
}

/** The latest day that any site can have now, with an hour for clocks that are ahead. */
const maxDay = sql`((now() + interval '15 hours') at time zone 'UTC')::date`
const maxTime = sql`(now() + interval '1 hour')`

/**
 * SQL conditions of the upsert: whether the added values begin a new day, and whether they are the
 * newest ones. A stored time in the future is that of a clock that was ahead and has been
 * corrected.
 */
const beginsDay = sql`(excluded.day > stored.day
  or (stored.day > ${maxDay} and excluded.day <= ${maxDay}))`
const isNewest = sql`(excluded.last_at >= stored.last_at
  or (stored.last_at > ${maxTime} and excluded.last_at <= ${maxTime}))`

/**
 * Adds values to the live counts, in the transaction that stores the statistics. An engine may send
 * values of an earlier day after an outage. They do not change the sums and counts, unless
 * the stored day is in the future.
 */
export async function addToLiveCounts(
  tx: Transaction,
  added: readonly AddedCount[],
): Promise<void> {
  if (added.length === 0) return
  // All transactions insert in the same order, so that they cannot deadlock.
  await tx.execute(sql`
    insert into live_count as stored (channel_id, key, day, sum, count, last, last_at)
    select distinct on (channel_id, key) channel_id, key, day, sum, count, last, last_at
    from (
      select
        channel.channel_id,
        added.key,
        (added.minute at time zone site.site_timezone)::date as day,
        sum(added.sum) as sum,
        sum(added.count) as count,
        -- The first element of the values in descending order of time.
        (array_agg(added.last order by added.last_at desc))[1] as last,
        max(added.last_at) as last_at
      from json_to_recordset(${JSON.stringify(added)}::text::json) as added (
        channel_id uuid,
        key text,
        minute timestamptz,
        sum float8,
        count bigint,
        last float8,
        last_at timestamptz
      )
      join channel using (channel_id)
      join site using (site_id)
      group by 1, 2, 3
    ) by_day
    -- Selects the latest day of each channel and key.
    order by channel_id, key, day desc
    on conflict (channel_id, key) do update set
      sum = case
        when ${beginsDay} then excluded.sum
        when excluded.day = stored.day then stored.sum + excluded.sum
        else stored.sum
      end,
      count = case
        when ${beginsDay} then excluded.count
        when excluded.day = stored.day then stored.count + excluded.count
        else stored.count
      end,
      day = case when ${beginsDay} then excluded.day else stored.day end,
      last = case when ${isNewest} then excluded.last else stored.last end,
      last_at = case when ${isNewest} then excluded.last_at else stored.last_at end,
      is_changed = true`)
}

/** A live count, with the aggregations that the usecase of its channel defines. */
interface LiveCountRow {
  channel_id: string
  key: string
  sum: number
  count: number
  last: number
  /** RFC 3339. */
  time: string
  usecase_aggregations: Aggregations
}

const liveCountColumns = sql`
  channel_id,
  key,
  sum,
  count::float8 as count,
  last,
  to_char(last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as time`

/**
 * Publishes a message for each channel whose live counts have changed since the last call, or whose
 * day has ended by `nowMs` (epoch ms). Called once a second, so that there is at most one message
 * per channel and second, however many events arrive.
 */
export async function publishLiveCounts(database: Database, nowMs: number): Promise<void> {
  await database.system('live feed', async tx => {
    const countsByChannel = toCountsByChannel(await claimDueCounts(tx, nowMs))
    const messages = Array.from(countsByChannel, ([channelId, counts]) => ({
      kind: 'count' as const,
      channel_id: channelId,
      data: { counts },
    }))
    // All messages are stored by one statement, because the ingest waits for the locks
    // of the claimed rows.
    await publishMessages(tx, messages)
  })
}

/**
 * Returns the counts to publish, and marks them as published. Counts of an earlier day are
 * reset to zero first.
 */
async function claimDueCounts(tx: Transaction, nowMs: number): Promise<LiveCountRow[]> {
  const now = toTimestamp(nowMs)
  // Rows that another transaction is changing are published the next time: waiting for
  // them could deadlock.
  return tx.execute<LiveCountRow & Record<string, unknown>>(sql`
    with due as (
      select
        live_count.channel_id,
        live_count.key,
        usecase.usecase_aggregations,
        (${now} at time zone site.site_timezone)::date as today
      from live_count
      join channel using (channel_id)
      join site using (site_id)
      join usecase using (usecase_id)
      where live_count.is_changed
        or live_count.day < (${now} at time zone site.site_timezone)::date
      for update of live_count skip locked
    ),
    published as (
      update live_count
      set
        is_changed = false,
        day = greatest(live_count.day, due.today),
        sum = case when live_count.day < due.today then 0 else live_count.sum end,
        count = case when live_count.day < due.today then 0 else live_count.count end
      from due
      where live_count.channel_id = due.channel_id
        and live_count.key = due.key
      returning live_count.*, due.usecase_aggregations
    )
    select ${liveCountColumns}, usecase_aggregations
    from published
    order by channel_id, key`)
}

/** Returns the current values of the statistics of all channels. */
export async function readLiveCounts(tx: Transaction): Promise<Map<string, FeedCounts>> {
  const rows = await tx.execute<LiveCountRow & Record<string, unknown>>(sql`
    select ${liveCountColumns}, usecase_aggregations
    from live_count
    join channel using (channel_id)
    join usecase using (usecase_id)
    order by channel_id, key`)
  return toCountsByChannel(rows)
}

/** Converts rows to the counts of each channel, by channel id. */
function toCountsByChannel(rows: readonly LiveCountRow[]): Map<string, FeedCounts> {
  const countsByChannel = new Map<string, FeedCounts>()
  for (const [channelId, channelRows] of Map.groupBy(rows, row => row.channel_id)) {
    const counts: FeedCounts = {}
    for (const row of channelRows) {
      const aggregation = getAggregation(row.key, row.usecase_aggregations)
      const value = computeStatistic(aggregation, row) ?? 0
      counts[row.key] = { value, aggregation, time: row.time }
    }
    countsByChannel.set(channelId, counts)
  }
  return countsByChannel
}
