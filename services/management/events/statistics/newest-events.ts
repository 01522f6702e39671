import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { type Period, toTimestamp, uuidArray } from './samples.ts'

/** Number of events per channel that are searched for tracks. */
const MAX_SEARCHED_EVENTS = 5000
const MAX_TRACKS = 1000
/** Number of events in the details of a bucket. */
const MAX_BUCKET_EVENTS = 20

/** Returns the distinct tracks of the newest events of each channel, newest first. */
export async function readNewestTracks(
  tx: Transaction,
  channelIds: readonly string[],
  { from, to }: Period,
): Promise<Map<string, string[]>> {
  const rows = await tx.execute<{ channel_id: string; track: string }>(sql`
    select c.channel_id, t.track from unnest(${uuidArray(channelIds)}) c (channel_id) cross join lateral (
      select track, min(place) as place from (
        select e.data ->> 'track' as track, row_number() over (order by e.time desc, e.seq desc) as place
        from event e
        where e.channel_id = c.channel_id and e.kind = 'event' and e.time >= ${toTimestamp(from)}
          and e.time < ${toTimestamp(to)}
        order by e.time desc, e.seq desc limit ${MAX_SEARCHED_EVENTS}
      ) newest
      where track is not null group by track order by place limit ${MAX_TRACKS}
    ) t order by t.place`)
  const tracks = new Map<string, string[]>()
  for (const { channel_id, track } of rows) {
    const channelTracks = tracks.get(channel_id)
    if (channelTracks) channelTracks.push(track)
    else tracks.set(channel_id, [track])
  }
  return tracks
}

/** Returns the newest events of each bucket, newest first. `buckets` are start times in epoch ms. */
export async function readNewestEvents(
  tx: Transaction,
  channel_id: string,
  buckets: readonly number[],
  lengthMs: number,
  { from, to }: Period,
): Promise<{ data: Record<string, unknown>; time: string }[][]> {
  const starts = sql`${`{${buckets.map(bucket => new Date(bucket).toISOString()).join(',')}}`}::timestamptz[]`
  const rows = await tx.execute<{ place: number; data: Record<string, unknown>; time: string }>(sql`
    select b.place::int as place, e.data, e.time from unnest(${starts}) with ordinality b (start, place)
    cross join lateral (
      select data, time from event
      where channel_id = ${channel_id}::uuid and kind = 'event'
        and time >= greatest(b.start, ${toTimestamp(from)})
        and time < least(b.start + ${lengthMs} * interval '1 millisecond', ${toTimestamp(to)})
      order by time desc, seq desc limit ${MAX_BUCKET_EVENTS}
    ) e order by b.place, e.time desc`)
  // Ordinality starts at 1.
  const rowsByPlace = Map.groupBy(rows, ({ place }) => place)
  return buckets.map((_, index) => {
    const events = rowsByPlace.get(index + 1) ?? []
    return events.map(({ data, time }) => ({ data, time: new Date(time).toISOString() }))
  })
}
