import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { formatTextArray } from '../../db/text-array.ts'
import { releaseDeliveries } from '../../deliveries/outbox.ts'
import { schedulePictureFetch } from './picture-fetch.ts'

/** A picture of a channel, and when it was taken in epoch ms. */
export interface TakenPicture {
  channel_id: string
  sha256: string
  takenMs: number
}

/** A picture near a moment. */
export interface NearestPicture {
  picture: string
  /** Milliseconds from the moment to the picture, negative if the picture is older. */
  picture_offset: number
}

const maxOffset = sql.raw(`interval '${MAX_PICTURE_OFFSET_MS} ms'`)

/**
 * Returns the picture nearest to a time (epoch ms) among those of the stored events of a channel; undefined if there is none
 * within a second.
 */
export async function findNearestPicture(
  tx: Transaction,
  channel_id: string,
  timeMs: number,
): Promise<NearestPicture | undefined> {
  const moment = sql`${new Date(timeMs).toISOString()}::timestamptz`
  // A picture is taken at most a second from its event, so its event is at most two seconds from the moment.
  const [nearest] = await tx.execute<NearestPicture & Record<string, unknown>>(sql`
    select picture, picture_offset from (
      select picture, seq,
        (extract(epoch from time - ${moment}) * 1000)::int + coalesce(picture_offset, 0) as picture_offset
      from event
      where channel_id = ${channel_id}::uuid and picture is not null
        and time between ${moment} - 2 * ${maxOffset} and ${moment} + 2 * ${maxOffset}
    ) candidate
    where abs(picture_offset) <= ${MAX_PICTURE_OFFSET_MS}
    order by abs(picture_offset), seq limit 1`)
  return nearest && { picture: nearest.picture, picture_offset: nearest.picture_offset }
}

/**
 * Attaches pictures to the notifications within a second that have none, or one that is farther away. Schedules the fetch of
 * the attached pictures.
 */
export async function attachToNotifications(
  tx: Transaction,
  pictures: readonly TakenPicture[],
): Promise<void> {
  if (pictures.length === 0) return
  const channelIds = formatTextArray(pictures.map(({ channel_id }) => channel_id))
  const hashes = formatTextArray(pictures.map(({ sha256 }) => sha256))
  const times = formatTextArray(pictures.map(({ takenMs }) => new Date(takenMs).toISOString()))
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
  for (const { sha256, channel_id, is_storage, timeMs } of attached)
    if (!(await schedulePictureFetch(tx, sha256, { channel_id, is_storage }, timeMs)))
      await releaseDeliveries(tx, sha256)
}

type AttachedPicture = { channel_id: string; sha256: string; is_storage: boolean; timeMs: number }
