import type { OutputMessage } from '@eyrie/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { event } from '../../db/schema/index.ts'
import { attachToNotifications, type TakenPicture } from './nearest-picture.ts'

type PictureMessage = Extract<OutputMessage, { kind: 'picture' }>

/** The new pictures of a batch of messages. */
export interface NewPictures {
  /** Stored events, some of which contain a picture. */
  events: readonly EventWithPicture[]
  /** Pictures that follow their events. */
  messages: readonly { channel_id: string; message: PictureMessage }[]
}

interface EventWithPicture {
  channel_id: string
  time: Date
  picture?: string | null
  picture_offset?: number | null
}

/** Attaches pictures to the stored events of their frames, and to the notifications to which they are the nearest. */
export async function attachPictures(tx: Transaction, { events, messages }: NewPictures): Promise<void> {
  for (const { channel_id, message } of messages) await attachToEvents(tx, channel_id, message)

  // Events in quick succession share a picture.
  const pictures = new Map<string, TakenPicture>()
  function add(channel_id: string, sha256: string, timeMs: number, offsetMs = 0): void {
    pictures.set(`${channel_id} ${sha256}`, { channel_id, sha256, takenMs: timeMs + offsetMs })
  }
  for (const { channel_id, time, picture, picture_offset } of events)
    if (picture) add(channel_id, picture, time.getTime(), picture_offset ?? 0)
  for (const { channel_id, message } of messages)
    add(channel_id, message.data.picture, Date.parse(message.time), message.data.picture_offset)
  await attachToNotifications(tx, [...pictures.values()])
}

async function attachToEvents(
  tx: Transaction,
  channel_id: string,
  { pts, epoch, time, data }: PictureMessage,
): Promise<void> {
  if (pts === null || epoch === null) return
  await tx
    .update(event)
    .set({ picture: data.picture, picture_offset: data.picture_offset ?? null })
    .where(
      and(
        eq(event.channel_id, channel_id),
        // Events have the same time as the message with the picture of their frame.
        eq(event.time, new Date(time)),
        eq(event.kind, 'event'),
        eq(event.pts, pts),
        eq(event.epoch, epoch),
        isNull(event.picture),
      ),
    )
}
