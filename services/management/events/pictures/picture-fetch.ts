import { eq, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, picture } from '../../db/schema/index.ts'

/** A channel that sends pictures of its events. */
export interface PictureChannel {
  channel_id: string
  /** Whether pictures are retained for as long as events. Otherwise they are retained for a day. */
  is_storage: boolean
}

/**
 * Schedules the fetch of a picture from the engine of a channel. The retention starts at `timeMs` (epoch ms). Returns false if
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
  const [stored] = await tx
    .insert(picture)
    .values({
      sha256,
      engine_id: row.engine_id,
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
