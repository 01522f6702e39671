import type { OutputMessage } from '@eyrie/contract'
import { and, eq, gte, isNull } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { event, notification } from '../../db/schema/index.ts'
import { requestPicture } from './request-picture.ts'

/** A channel whose pictures are attached. */
export interface PicturedChannel {
  channel_id: string
  is_storage: boolean
}

/** Gives events and notifications the pictures of their frames that have come after them. */
export async function attachPictures(
  tx: Transaction,
  pictures: readonly { channel: PicturedChannel; message: Extract<OutputMessage, { kind: 'picture' }> }[],
): Promise<void> {
  for (const { channel, message } of pictures) {
    const { pts, epoch, time, data } = message
    if (pts === null || epoch === null) continue
    const { picture } = data
    await tx
      .update(event)
      .set({ picture })
      .where(
        and(
          eq(event.channel_id, channel.channel_id),
          // The picture has the time of its frame, as the events of the frame have.
          eq(event.time, new Date(time)),
          eq(event.kind, 'event'),
          eq(event.pts, pts),
          eq(event.epoch, epoch),
          isNull(event.picture),
        ),
      )
    const told = await tx
      .update(notification)
      .set({ picture })
      .where(
        and(
          eq(notification.channel_id, channel.channel_id),
          // It was made at its frame or later. Another picture has only stood in for this one.
          gte(notification.notification_time, new Date(time)),
          eq(notification.pts, pts),
          eq(notification.epoch, epoch),
        ),
      )
      .returning({ time: notification.notification_time })
    for (const { time } of told) await requestPicture(tx, picture, channel, time.getTime())
  }
}
