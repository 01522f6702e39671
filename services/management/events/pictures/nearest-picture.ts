import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { textArray, timestampArray, uuidArray } from '../../db/sql-values.ts'
import { releaseDeliveries } from '../../deliveries/outbox.ts'
import { type ShownPicture, schedulePictureFetches } from './picture-fetch.ts'

// Finds pictures for moments of a channel, such as the times of notifications. A picture may be
// shown for a moment if it was taken at most a second (`MAX_PICTURE_OFFSET_MS`) before or after it.

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
 * Returns the picture nearest to each moment, in the order of `moments`, or undefined for a moment
 * without a picture within a second. Only pictures of stored events are considered.
 */
export async function findNearestPictures(
  tx: Transaction,
  moments: readonly Moment[],
): Promise<(NearestPicture | undefined)[]> {
  // A picture is taken at most a second from its event, so its event is at most two
  // seconds from the moment.
  const rows = await tx.execute<NearestPicture & { index: number } & Record<string, unknown>>(sql`
    select
      moment.index::int,
      nearest.picture,
      nearest.picture_offset
    from ${unnestMoments(moments)}
    cross join lateral (
      select picture, picture_offset
      from (
        select
          event.picture,
          event.seq,
          -- The time from the moment to the event, and from the event to its picture, in ms.
          (extract(epoch from event.time - moment.time) * 1000)::int
            + coalesce(event.picture_offset, 0) as picture_offset
        from event
        where event.channel_id = moment.channel_id
          and event.picture is not null
          and event.time >= moment.time - 2 * ${maxOffset}
          and event.time <= moment.time + 2 * ${maxOffset}
      ) candidate
      where abs(picture_offset) <= ${MAX_PICTURE_OFFSET_MS}
      order by abs(picture_offset), seq
      limit 1
    ) nearest`)
  const nearestByIndex = new Map(
    rows.map(({ index, picture, picture_offset }) => [index, { picture, picture_offset }]),
  )
  // `unnestMoments` counts from 1.
  return moments.map((_, position) => nearestByIndex.get(position + 1))
}

/**
 * Passes moments to a query as a relation `moment` with the columns channel_id, time and index. The
 * index of the first moment is 1.
 */
export function unnestMoments(moments: readonly Moment[]): SQL {
  const channelIds = uuidArray(moments.map(({ channel_id }) => channel_id))
  const times = timestampArray(moments.map(({ timeMs }) => timeMs))
  return sql`
    unnest(${channelIds}, ${times})
      with ordinality moment (channel_id, time, index)`
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
  const channelIds = uuidArray(pictures.map(({ channel_id }) => channel_id))
  const hashes = textArray(pictures.map(({ sha256 }) => sha256))
  const times = timestampArray(pictures.map(({ takenMs }) => takenMs))

  const attached = await tx.execute<AttachedPicture>(sql`
    with pair as (
      -- Each picture with the notifications near it.
      select
        notification.notification_uuid,
        notification.picture as attached_picture,
        notification.picture_offset as attached_offset_ms,
        taken.sha256,
        (extract(epoch from taken.time - notification.notification_time) * 1000)::int as offset_ms,
        channel.is_storage
      from unnest(${channelIds}, ${hashes}, ${times})
        taken (channel_id, sha256, time)
      join notification on notification.channel_id = taken.channel_id
        and notification.notification_time >= taken.time - ${maxOffset}
        and notification.notification_time <= taken.time + ${maxOffset}
      join channel on channel.channel_id = taken.channel_id
    ),
    nearest as (
      -- The nearest picture of each notification, unless a nearer one is attached to it.
      select distinct on (notification_uuid)
        notification_uuid,
        sha256,
        offset_ms,
        is_storage
      from pair
      where attached_picture is null
        or abs(attached_offset_ms) > abs(offset_ms)
      order by notification_uuid, abs(offset_ms)
    )
    update notification
    set
      picture = nearest.sha256,
      picture_offset = nearest.offset_ms,
      next_snapshot = null
    from nearest
    where notification.notification_uuid = nearest.notification_uuid
    returning
      notification.channel_id,
      nearest.sha256,
      nearest.is_storage,
      extract(epoch from notification.notification_time)::float8 * 1000 as "timeMs"`)

  const fetching = await schedulePictureFetches(tx, attached)
  for (const sha256 of new Set(attached.map(({ sha256 }) => sha256))) {
    if (!fetching.has(sha256)) await releaseDeliveries(tx, sha256)
  }
}
