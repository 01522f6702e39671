import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { at, type Period, uuidArray } from './samples.ts'

/** So many events are looked at for tracks, the newest first. */
const MOST_EVENTS = 5000
const MOST_TRACKS = 1000

/** The tracks of the newest events of each channel, as text, each once. */
export async function newestTracks(
  tx: Transaction,
  channels: readonly string[],
  { from, to }: Period,
): Promise<Map<string, string[]>> {
  const rows = await tx.execute<{ channel_id: string; track: string }>(sql`
    select c.channel_id, t.track from unnest(${uuidArray(channels)}) c (channel_id) cross join lateral (
      select track, min(place) as place from (
        select e.data ->> 'track' as track, row_number() over (order by e.time desc, e.seq desc) as place
        from event e
        where e.channel_id = c.channel_id and e.kind = 'event' and e.time >= ${at(from)} and e.time < ${at(to)}
        order by e.time desc, e.seq desc limit ${MOST_EVENTS}
      ) newest
      where track is not null group by track order by place limit ${MOST_TRACKS}
    ) t order by t.place`)
  return new Map(
    [...Map.groupBy(rows, ({ channel_id }) => channel_id)].map(([channel_id, own]) => [
      channel_id,
      own.map(({ track }) => track),
    ]),
  )
}

/** So many events of a bucket are told in its details, the newest first. */
const MOST_TOLD = 20

/** What happened in each of several buckets that begin at these moments, epoch ms. */
export async function newestEvents(
  tx: Transaction,
  channel_id: string,
  buckets: readonly number[],
  lengthMs: number,
  { from, to }: Period,
): Promise<{ data: Record<string, unknown>; time: string }[][]> {
  const begins = sql`${`{${buckets.map(bucket => new Date(bucket).toISOString()).join(',')}}`}::timestamptz[]`
  const rows = await tx.execute<{ place: number; data: Record<string, unknown>; time: string }>(sql`
    select b.place::int as place, e.data, e.time from unnest(${begins}) with ordinality b (begin, place)
    cross join lateral (
      select data, time from event
      where channel_id = ${channel_id}::uuid and kind = 'event'
        and time >= greatest(b.begin, ${at(from)})
        and time < least(b.begin + ${lengthMs} * interval '1 millisecond', ${at(to)})
      order by time desc, seq desc limit ${MOST_TOLD}
    ) e order by b.place, e.time desc`)
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return buckets.map((_, n) =>
    (byPlace.get(n + 1) ?? []).map(({ data, time }) => ({ data, time: new Date(time).toISOString() })),
  )
}
