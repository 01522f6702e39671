import type { OutputMessage } from '@eyrie/contract'
import { and, eq, gte, isNull, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, event, notification, picture } from '../../db/schema/index.ts'

/** A channel that sends pictures of its events. */
export interface PictureChannel {
  channel_id: string
  /** Whether pictures are retained for as long as events. Otherwise they are retained for a day. */
  is_storage: boolean
}

type PictureMessage = Extract<OutputMessage, { kind: 'picture' }>

/** Attaches pictures to the stored events and notifications of their frames. */
export async function attachPictures(
  tx: Transaction,
  pictures: readonly { channel: PictureChannel; message: PictureMessage }[],
): Promise<void> {
  for (const { channel: sender, message } of pictures) {
    const { pts, epoch, data } = message
    if (pts === null || epoch === null) continue

    const frame = { channelId: sender.channel_id, epoch, pts, time: new Date(message.time) }
    await attachToEvents(tx, frame, data.picture)
    const notificationTimes = await attachToNotifications(tx, frame, data.picture)
    for (const time of notificationTimes) await schedulePictureFetch(tx, data.picture, sender, time.getTime())
  }
}

/** A video frame of a channel. */
interface ChannelFrame {
  channelId: string
  /** The run of the media service that `pts` belongs to: timestamps start over with each run. */
  epoch: number
  /** Timestamp within the stream. */
  pts: number
  time: Date
}

async function attachToEvents(tx: Transaction, frame: ChannelFrame, sha256: string): Promise<void> {
  await tx
    .update(event)
    .set({ picture: sha256 })
    .where(
      and(
        eq(event.channel_id, frame.channelId),
        // Events have the same time as the picture of their frame.
        eq(event.time, frame.time),
        eq(event.kind, 'event'),
        eq(event.pts, frame.pts),
        eq(event.epoch, frame.epoch),
        isNull(event.picture),
      ),
    )
}

/**
 * Attaches a picture to the notifications of its frame. Replaces the placeholder that a notification has if it was stored
 * before the picture arrived. Returns the times of the notifications.
 */
async function attachToNotifications(tx: Transaction, frame: ChannelFrame, sha256: string): Promise<Date[]> {
  const notifications = await tx
    .update(notification)
    .set({ picture: sha256 })
    .where(
      and(
        eq(notification.channel_id, frame.channelId),
        // A notification is never older than its frame.
        gte(notification.notification_time, frame.time),
        eq(notification.pts, frame.pts),
        eq(notification.epoch, frame.epoch),
      ),
    )
    .returning({ time: notification.notification_time })
  return notifications.map(({ time }) => time)
}

/** Schedules the fetch of a picture from the engine of a channel. The retention starts at `timeMs` (epoch ms). */
export async function schedulePictureFetch(
  tx: Transaction,
  sha256: string,
  { channel_id, is_storage: isRetainedLikeEvents }: PictureChannel,
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
}
