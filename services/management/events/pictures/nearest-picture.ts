import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { formatTextArray } from '../../db/text-array.ts'
import { releaseDeliveries } from '../../deliveries/outbox.ts'
import { type ShownPicture, schedulePictureFetches } from './picture-fetch.ts'

// Finds pictures for moments of a channel, such as the times of notifications. A picture
// may be shown for a moment if it was taken at most `MAX_PICTURE_OFFSET_MS`, which is a
// second, before or after.

/** A moment of a channel. */
export interface Moment {
  channel_id: string
  /** Epoch ms. */
  timeMs: number
}

/** A picture near a moment. */
export interface NearestPicture {
  picture: string
  /** Milliseconds from the moment to the picture, negative if the picture is older. */
  picture_offset: number
}

/** A picture of a channel. */
export interface TakenPicture {
  channel_id: string
  sha256: string
  /** When the picture was taken, in epoch ms. */
  takenMs: number
}

/** `MAX_PICTURE_OFFSET_MS` for use in SQL. */
const maxOffset = sql.raw(`interval '${MAX_PICTURE_OFFSET_MS} ms'`)

/**
 * Returns the picture nearest to each moment, in the order of `moments`. The pictures are those of
 * stored events of the channel. Undefined for a moment without a picture within a second.
 */
export async function findNearestPictures(
  tx: Transaction,
  moments: readonly Moment[],
): Promise<(NearestPicture | undefined)[]> {
  // A picture is taken at most a second from its event, so its event is at most two
  // seconds from the moment.
  const rows = await tx.execute<NearestPicture & { index: number } & Record<string, unknown>>(sql`
    select m.index::int, nearest.picture, nearest.picture_offset
    from ${unnestMoments(moments)}
    cross join lateral (
      select picture, picture_offset from (
        select e.picture, e.seq,
          (extract(epoch from e.time - m.time) * 1000)::int + coalesce(e.picture_offset, 0) as picture_offset
        from event e
        where e.channel_id = m.channel_id and e.picture is not null
          and e.time between m.time - 2 * ${maxOffset} and m.time + 2 * ${maxOffset}
      ) candidate
      where abs(picture_offset) <= ${MAX_PICTURE_OFFSET_MS}
      order by abs(picture_offset), seq limit 1
    ) nearest`)
  const nearestByIndex = new Map(
    rows.map(({ index, picture, picture_offset }) => [index, { picture, picture_offset }]),
  )
  // `unnestMoments` counts from 1.
  return moments.map((_, position) => nearestByIndex.get(position + 1))
}

/**
 * Passes moments to a query as a relation `m` with the columns channel_id, time and index. The
 * index of the first moment is 1.
 */
export function unnestMoments(moments: readonly Moment[]): SQL {
  const channelIds = formatTextArray(moments.map(({ channel_id }) => channel_id))
  const times = formatTextArray(moments.map(({ timeMs }) => new Date(timeMs).toISOString()))
  return sql`unnest(${channelIds}::uuid[], ${times}::timestamptz[]) with ordinality m (channel_id, time, index)`
}

type AttachedPicture = ShownPicture & Record<string, unknown>

/**
 * Attaches pictures to the notifications of their channel within a second, unless a notification
 * has a nearer picture. Schedules the fetch of the attached pictures. Deliveries that wait for a
 * picture become due if it has been fetched already.
 */
export async function attachToNotifications(
  tx: Transaction,
  pictures: readonly TakenPicture[],
): Promise<void> {
  if (pictures.length === 0) return
  const channelIds = formatTextArray(pictures.map(({ channel_id }) => channel_id))
  const hashes = formatTextArray(pictures.map(({ sha256 }) => sha256))
  const times = formatTextArray(pictures.map(({ takenMs }) => new Date(takenMs).toISOString()))
  // The inner query pairs each picture with the notifications near it. Each notification gets the
  // nearest of its pictures.
  const attached = await tx.execute<AttachedPicture>(sql`
    update notification n set picture = nearest.sha256, picture_offset = nearest.offset_ms,
      next_snapshot = null
    from (
      select distinct on (notification_uuid) notification_uuid, sha256, offset_ms, is_storage
      from (
        select candidate.notification_uuid, candidate.picture_offset, candidate.picture, taken.sha256, c.is_storage,
          (extract(epoch from taken.time - candidate.notification_time) * 1000)::int as offset_ms
        from unnest(${channelIds}::uuid[], ${hashes}::text[], ${times}::timestamptz[]) taken (channel_id, sha256, time)
        join notification candidate on candidate.channel_id = taken.channel_id
          and candidate.notification_time between taken.time - ${maxOffset} and taken.time + ${maxOffset}
        join channel c on c.channel_id = taken.channel_id
      ) pair
      where picture is null or abs(picture_offset) > abs(offset_ms)
      order by notification_uuid, abs(offset_ms)
    ) nearest
    where n.notification_uuid = nearest.notification_uuid
    returning n.channel_id, nearest.sha256, nearest.is_storage,
      extract(epoch from n.notification_time)::float8 * 1000 as "timeMs"`)
  const fetching = await schedulePictureFetches(tx, attached)
  for (const sha256 of new Set(attached.map(({ sha256 }) => sha256))) {
    if (!fetching.has(sha256)) await releaseDeliveries(tx, sha256)
  }
}
