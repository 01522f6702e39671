import { eq, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, picture } from '../../db/schema/index.ts'

/** Has a picture fetched from the engine of a channel, and kept: for long where its channel stores pictures. */
export async function requestPicture(
  tx: Transaction,
  sha256: string,
  { channel_id, is_storage }: { channel_id: string; is_storage: boolean },
  at: number,
): Promise<void> {
  const [found] = await tx
    .select({ engine_id: channel.engine_id })
    .from(channel)
    .where(eq(channel.channel_id, channel_id))
  if (!found) return
  const time = new Date(at)
  await tx
    .insert(picture)
    .values({ sha256, engine_id: found.engine_id, time, is_stored: is_storage, next_attempt: sql`now()` })
    .onConflictDoUpdate({
      target: picture.sha256,
      set: {
        time: sql`greatest(${picture.time}, excluded.time)`,
        is_stored: sql`${picture.is_stored} or excluded.is_stored`,
      },
    })
}
