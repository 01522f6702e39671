import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { timestampArray, toTimestamp, uuidArray } from '../../db/sql-values.ts'
import type { Period } from './samples.ts'

// Queries for the newest events. For each channel or bucket, a lateral subquery with a limit reads
// only the newest rows from the index, however many events the period has.

/** Maximum number of events of a channel in which objects are searched. */
const MAX_SEARCHED_EVENTS = 5000
/** Maximum number of objects that are returned for a channel. */
const MAX_TRACKS = 1000
/** Maximum number of events in the details of a bucket. */
const MAX_BUCKET_EVENTS = 20

/** Returns the ids of the objects tracked in the newest events of each channel, newest first. */
export async function readNewestTracks(
  tx: Transaction,
  channelIds: readonly string[],
  { from, to }: Period,
): Promise<Map<string, string[]>> {
  const rows = await tx.execute<{ channel_id: string; track: string }>(sql`
    select selected.channel_id, tracked.track
    from unnest(${uuidArray(channelIds)}) selected (channel_id)
    cross join lateral (
      -- An object has the position of its newest event.
      select track, min(position) as position
      from (
        select
          data ->> 'track' as track,
          -- 1 for the newest event of the channel, 2 for the one before it, and so on.
          row_number() over (order by time desc, seq desc) as position
        from event
        where event.channel_id = selected.channel_id
          and kind = 'event'
          and time >= ${toTimestamp(from)}
          and time < ${toTimestamp(to)}
        order by time desc, seq desc
        limit ${MAX_SEARCHED_EVENTS}
      ) newest
      where track is not null
      group by track
      order by position
      limit ${MAX_TRACKS}
    ) tracked
    order by tracked.position`)
  const rowsByChannel = Map.groupBy(rows, ({ channel_id }) => channel_id)
  return new Map(
    Array.from(rowsByChannel, ([channelId, channelRows]) => [
      channelId,
      channelRows.map(row => row.track),
    ]),
  )
}

/** Returns a list for each period, or bucket: its newest events, newest first. */
export async function readNewestEvents(
  tx: Transaction,
  channelId: string,
  periods: readonly Period[],
): Promise<{ data: Record<string, unknown>; time: string }[][]> {
  const starts = timestampArray(periods.map(({ from }) => from))
  const ends = timestampArray(periods.map(({ to }) => to))
  const rows = await tx.execute<{
    bucket_number: number
    data: Record<string, unknown>
    time: string
  }>(sql`
    select
      bucket.number::int as bucket_number,
      newest.data,
      newest.time
    -- Numbers the buckets from 1.
    from unnest(${starts}, ${ends}) with ordinality bucket (start_time, end_time, number)
    cross join lateral (
      select data, time
      from event
      where channel_id = ${channelId}::uuid
        and kind = 'event'
        and time >= bucket.start_time
        and time < bucket.end_time
      order by time desc, seq desc
      limit ${MAX_BUCKET_EVENTS}
    ) newest
    order by bucket.number, newest.time desc`)
  const rowsByBucket = Map.groupBy(rows, row => row.bucket_number)
  return periods.map((_, index) => {
    const events = rowsByBucket.get(index + 1) ?? []
    return events.map(({ data, time }) => ({ data, time: new Date(time).toISOString() }))
  })
}
