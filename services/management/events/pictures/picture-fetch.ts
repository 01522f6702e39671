import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { and, between, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, event, picture } from '../../db/schema/index.ts'

/** A channel that sends pictures of its events. */
export interface PictureChannel {
  channel_id: string
  /** Whether pictures are retained for as long as events. Otherwise they are retained for a day. */
  is_storage: boolean
}

/** The greatest difference between the time of a notification and that of the event whose picture it shows. */
const MAX_EVENT_DISTANCE_MS = 2 * MAX_PICTURE_OFFSET_MS

/**
 * Schedules the fetch of a picture from the engine whose event it belongs to: the channel may have been moved since. The retention starts at `timeMs` (epoch ms). Returns false if
 * the picture has been fetched already, or is unavailable.
 */
export async function schedulePictureFetch(
  tx: Transaction,
  sha256: string,
  { channel_id, is_storage: isRetainedLikeEvents }: PictureChannel,
  timeMs: number,
): Promise<boolean> {
  const [row] = await tx
    .select({ engine_id: channel.engine_id })
    .from(channel)
    .where(eq(channel.channel_id, channel_id))
  if (!row) return false
  const [pictured] = await tx
    .select({ engine_id: event.engine_id })
    .from(event)
    .where(
      and(
        eq(event.channel_id, channel_id),
        between(
          event.time,
          new Date(timeMs - MAX_EVENT_DISTANCE_MS),
          new Date(timeMs + MAX_EVENT_DISTANCE_MS),
        ),
        eq(event.picture, sha256),
      ),
    )
    .limit(1)
  const [stored] = await tx
    .insert(picture)
    .values({
      sha256,
      engine_id: pictured?.engine_id ?? row.engine_id,
      time: new Date(timeMs),
      is_stored: isRetainedLikeEvents,
      next_attempt: sql`now()`,
    })
    // Channels may share a picture. The longest retention applies.
    .onConflictDoUpdate({
      target: picture.sha256,
      set: {
        time: sql`greatest(${picture.time}, excluded.time)`,
        is_stored: sql`${picture.is_stored} or excluded.is_stored`,
      },
    })
    .returning({ next_attempt: picture.next_attempt })
  return stored!.next_attempt !== null
}
