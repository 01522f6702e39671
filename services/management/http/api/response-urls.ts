import { notificationRoutes } from '@eyrie/contract/management/notification'

// Paths of pictures and recordings in the responses of the API.

/** Time before the first and after the last notification that the clip of an incident shows. */
const CLIP_BEFORE_MS = 5_000
const CLIP_AFTER_MS = 10_000
/** The media service exports no longer clips. */
const MAX_CLIP_MS = 4 * 3_600_000

/** A notification, and its picture if it has one. */
interface Illustration {
  channel_id: string
  /** Null for an incident whose best notification was deleted. */
  notification_uuid: string | null
  picture: string | null
}

/** Returns the path of the picture, or an empty text if there is none. */
export function toImageUrl({ channel_id, notification_uuid, picture }: Illustration): string {
  if (picture === null || notification_uuid === null) return ''
  const query = new URLSearchParams({ channel_id, notification_uuid })
  return `/api/v1${notificationRoutes.image.path}?${query}`
}

interface RecordedIncident {
  /** The stream with the recording. Null if management cannot read the recording. */
  clipStream: number | null
  started_at: Date
  last_at: Date
  ended_at: Date | null
}

/** Returns the path of the recording of an incident, or an empty text if there is none. */
export function toClipUrl({
  clipStream,
  started_at: startedAt,
  last_at: lastAt,
  ended_at: endedAt,
}: RecordedIncident): string {
  if (clipStream === null) return ''
  const fromMs = startedAt.getTime() - CLIP_BEFORE_MS
  const toMs = (endedAt ?? lastAt).getTime() + CLIP_AFTER_MS
  const query = new URLSearchParams({
    from: new Date(fromMs).toISOString(),
    to: new Date(Math.min(toMs, fromMs + MAX_CLIP_MS)).toISOString(),
  })
  return `/live/recordings/${clipStream}/clip.mp4?${query}`
}
