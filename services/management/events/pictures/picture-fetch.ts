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
  const shownRows = pictures.map(({ timeMs, ...fields }) => ({ ...fields, time: new Date(timeMs) }))

  // Several notifications, and several channels, may show the same picture. It has one row, with
  // the longest retention that one of them needs.
  const stored = await tx.execute<{ sha256: string; is_fetching: boolean }>(sql`
    with shown as (
      select
        notified.sha256,
        notified.time,
        notified.is_storage,
        coalesce(sending_event.engine_id, channel.engine_id) as engine_id
      from json_to_recordset(${JSON.stringify(shownRows)}::text::json)
        as notified (sha256 text, channel_id uuid, is_storage boolean, time timestamptz)
      join channel on channel.channel_id = notified.channel_id
      left join lateral (
        select event.engine_id
        from event
        where event.channel_id = notified.channel_id
          and event.picture = notified.sha256
          and event.time >= notified.time - ${maxEventDistance}
          and event.time <= notified.time + ${maxEventDistance}
        limit 1
      ) sending_event on true
    )
    insert into picture (sha256, engine_id, time, is_stored, next_attempt)
    select
      sha256,
      (array_agg(engine_id))[1], -- Each of these engines has the picture.
      max(time),
      bool_or(is_storage),
      now()
    from shown
    group by sha256
    order by sha256
    -- A picture that is known already, and perhaps fetched, may only get a longer retention.
    on conflict (sha256) do update set
      time = greatest(picture.time, excluded.time),
      is_stored = picture.is_stored or excluded.is_stored
    returning sha256, next_attempt is not null as is_fetching`)
  return new Set(stored.filter(({ is_fetching }) => is_fetching).map(({ sha256 }) => sha256))
}
