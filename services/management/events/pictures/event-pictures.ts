import type { OutputMessage } from '@eyrie/contract'
import { and, eq, gte, isNull, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, event, notification, picture } from '../../db/schema/index.ts'

/** A channel with pictures. */
export interface PictureChannel {
  channel_id: string
  /** Retains pictures as long as events; otherwise for a day. */
  is_storage: boolean
}

type PictureMessage = Extract<OutputMessage, { kind: 'picture' }>

/** Attaches pictures to the stored events and notifications of their frames. */
export async function attachPictures(
  tx: Transaction,
  pictures: readonly { channel: PictureChannel; message: PictureMessage }[],
): Promise<void> {
  for (const { channel, message } of pictures) {
    const { pts, epoch, data } = message
    if (pts === null || epoch === null) continue
    const frameTime = new Date(message.time)
    await tx
      .update(event)
      .set({ picture: data.picture })
      .where(
        and(
          eq(event.channel_id, channel.channel_id),
          // A picture has the time of its frame, and so do the events of the frame.
          eq(event.time, frameTime),
          eq(event.kind, 'event'),
          eq(event.pts, pts),
          eq(event.epoch, epoch),
          isNull(event.picture),
        ),
      )
    // Replaces the substitute that a notification has used until the picture of its own frame arrived.
    const notifications = await tx
      .update(notification)
      .set({ picture: data.picture })
      .where(
        and(
          eq(notification.channel_id, channel.channel_id),
          // A notification is created at its frame or later.
          gte(notification.notification_time, frameTime),
          eq(notification.pts, pts),
          eq(notification.epoch, epoch),
        ),
      )
      .returning({ time: notification.notification_time })
    for (const { time } of notifications) await requestPicture(tx, data.picture, channel, time.getTime())
  }
}

/** Schedules a picture to be fetched from the engine of a channel. `timeMs` (epoch ms) starts its retention. */
export async function requestPicture(
  tx: Transaction,
  sha256: string,
  { channel_id, is_storage }: PictureChannel,
  timeMs: number,
): Promise<void> {
  const [row] = await tx
    .select({ engine_id: channel.engine_id })
    .from(channel)
    .where(eq(channel.channel_id, channel_id))
  if (!row) return
  await tx
    .insert(picture)
    .values({
      sha256,
      engine_id: row.engine_id,
      time: new Date(timeMs),
      is_stored: is_storage,
      next_attempt: sql`now()`,
    })
    .onConflictDoUpdate({
      target: picture.sha256,
      set: {
        time: sql`greatest(${picture.time}, excluded.time)`,
        is_stored: sql`${picture.is_stored} or excluded.is_stored`,
      },
    })
}
