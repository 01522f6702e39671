import type { OutputMessage } from '@eyrie/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { event } from '../../db/schema/index.ts'
import { attachToNotifications, type TakenPicture } from './nearest-picture.ts'

type PictureMessage = Extract<OutputMessage, { kind: 'picture' }>

/**
 * The pictures in a batch of messages from an engine. An event contains its picture, or the picture
 * follows later in a message of its own.
 */
export interface NewPictures {
  /** The events of the batch, with or without a picture. They are stored already. */
  events: readonly StoredEvent[]
  /** The messages of the batch that contain pictures of earlier events. */
  messages: readonly LaterPicture[]
}

interface LaterPicture {
  channel_id: string
  message: PictureMessage
}

interface StoredEvent {
  channel_id: string
  time: Date
  /** SHA-256 of the picture. */
  picture?: string | null
  /** Milliseconds from the event to the picture. */
  picture_offset?: number | null
}

/**
 * Attaches later pictures to the events of their frames, and all pictures to the notifications near
 * them, unless a notification has a nearer picture.
 */
export async function attachPictures(
  tx: Transaction,
  { events, messages }: NewPictures,
): Promise<void> {
  for (const { channel_id: channelId, message } of messages) {
    await attachToEvents(tx, channelId, message)
  }

  const pictures = [
    ...events.flatMap(event => toEventPicture(event) ?? []),
    ...messages.map(toLaterPicture),
  ]
  // Events in quick succession share a picture, which must be attached once.
  const distinct = new Map(
    pictures.map(picture => [`${picture.channel_id} ${picture.sha256}`, picture]),
  )
  await attachToNotifications(tx, [...distinct.values()])
}

function toEventPicture({
  channel_id,
  time,
  picture,
  picture_offset: offsetMs,
}: StoredEvent): TakenPicture | undefined {
  if (!picture) return undefined
  return { channel_id, sha256: picture, takenMs: time.getTime() + (offsetMs ?? 0) }
}

const toLaterPicture = ({ channel_id, message: { time, data } }: LaterPicture): TakenPicture => ({
  channel_id,
  sha256: data.picture,
  takenMs: Date.parse(time) + (data.picture_offset ?? 0),
})

/** Attaches the picture of a message to the events of its frame that have none. */
async function attachToEvents(
  tx: Transaction,
  channelId: string,
  { pts, epoch, time, data }: PictureMessage,
): Promise<void> {
  if (pts === null || epoch === null) return
  await tx
    .update(event)
    .set({ picture: data.picture, picture_offset: data.picture_offset ?? null })
    .where(
      and(
        eq(event.channel_id, channelId),
        // Events have the same time as the message with the picture of their frame.
        eq(event.time, new Date(time)),
        eq(event.kind, 'event'),
        eq(event.pts, pts),
        eq(event.epoch, epoch),
        isNull(event.picture),
      ),
    )
}
