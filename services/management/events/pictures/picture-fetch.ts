import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'

/** A picture that a notification of a channel shows. */
export interface ShownPicture {
  sha256: string
  channel_id: string
  /**
   * Whether pictures of the channel are retained for as long as events. Otherwise they
   * are retained for a day.
   */
  is_storage: boolean
  /** Time of the notification in epoch ms, at which the retention starts. */
  timeMs: number
}

/**
 * The greatest difference between the time of a notification and that of the event whose picture it
 * shows: each of them may be `MAX_PICTURE_OFFSET_MS` from the picture.
 */
const maxEventDistance = sql.raw(`interval '${2 * MAX_PICTURE_OFFSET_MS} ms'`)

/**
 * Schedules the fetch of pictures. A picture is fetched from the engine that sent its event,
 * because the channel may have been moved to another engine since. Returns the pictures (SHA-256)
 * that are still to be fetched. The others were fetched already, or are unavailable.
 */
export async function schedulePictureFetches(
  tx: Transaction,
  pictures: readonly ShownPicture[],
): Promise<Set<string>> {
  if (pictures.length === 0) return new Set()
  const rows = pictures.map(({ timeMs, ...fields }) => ({ ...fields, time: new Date(timeMs) }))
  // Notifications, and channels, may share a picture. The longest retention applies.
  const stored = await tx.execute<{ sha256: string; is_fetching: boolean }>(sql`
    insert into picture (sha256, engine_id, time, is_stored, next_attempt)
    select distinct on (shown.sha256) shown.sha256, coalesce(pictured.engine_id, c.engine_id),
      max(shown.time) over same, bool_or(shown.is_storage) over same, now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as shown (sha256 text, channel_id uuid, is_storage boolean, time timestamptz)
    join channel c on c.channel_id = shown.channel_id
    left join lateral (
      select e.engine_id from event e
      where e.channel_id = shown.channel_id and e.picture = shown.sha256
        and e.time between shown.time - ${maxEventDistance} and shown.time + ${maxEventDistance}
      limit 1
    ) pictured on true
    window same as (partition by shown.sha256)
    order by shown.sha256
    on conflict (sha256) do update set time = greatest(picture.time, excluded.time),
      is_stored = picture.is_stored or excluded.is_stored
    returning sha256, next_attempt is not null as is_fetching`)
  return new Set(stored.filter(({ is_fetching }) => is_fetching).map(({ sha256 }) => sha256))
}
