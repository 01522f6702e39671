import type { Log } from '@eyrie/kit/log'
import { withTimeout } from '@eyrie/kit/timeout'
import type { LoadFramePicture } from '../media/frame-picture.ts'
import type { MessageDraft, Publisher } from '../output/message-draft.ts'
import type { PictureStore } from './picture-store.ts'

/** Events must be on disk and sent to clients within 100 ms of the analysis of their frame. */
const WAIT_MS = 50

type EventDraft = Extract<MessageDraft, { kind: 'event' }>

export interface EventPicturesOptions {
  loadPicture: LoadFramePicture
  store: Pick<PictureStore, 'save'>
  /** Minimum time between two pictures of a channel. */
  intervalMs: number
  /** How long an event waits for its picture. */
  waitMs?: number
  /** ms of a monotonic clock. */
  now(): number
  log: Log
}

/** Adds pictures to events. */
export interface EventPictures {
  /**
   * Publishes the event with the picture of its frame. Events of a channel keep their order. A picture that is late
   * follows as a message of its own; an event whose picture cannot be loaded is published without one.
   */
  attach(event: EventDraft, output: Publisher): void
  /** Resolves when no picture is pending. */
  drain(): Promise<void>
}

interface PendingPicture {
  pts: number
  requestedAt: number
  sha256: Promise<string | undefined>
  /** An event was published without the picture, which follows once as a message of its own. */
  isLate: boolean
}

export function createEventPictures({
  loadPicture,
  store,
  intervalMs,
  waitMs = WAIT_MS,
  now,
  log,
}: EventPicturesOptions): EventPictures {
  const newest = new Map<number, PendingPicture>()
  const waiting = new Map<number, Promise<void>>()
  const late = new Set<Promise<void>>()

  const loadAndStore = async (source: number, pts: number) => {
    try {
      return await store.save(await loadPicture(source, pts))
    } catch (error) {
      log.debug({ err: error, source, pts }, 'failed to load picture of event')
    }
  }

  /** Events of one frame share a picture. */
  const requestPicture = (channel: number, source: number, pts: number): PendingPicture | undefined => {
    const last = newest.get(channel)
    if (last?.pts === pts) return last
    if (last && now() - last.requestedAt < intervalMs) return undefined
    const picture = { pts, requestedAt: now(), sha256: loadAndStore(source, pts), isLate: false }
    newest.set(channel, picture)
    return picture
  }

  const publishLate = (event: EventDraft, picture: PendingPicture, output: Publisher) => {
    if (picture.isLate) return
    picture.isLate = true
    const { kind: _, data: __, ...place } = event
    const done = picture.sha256.then(sha256 => {
      if (sha256) output.publish({ ...place, kind: 'picture', data: { picture: sha256 } })
      late.delete(done)
    })
    late.add(done)
  }

  return {
    attach(event, output) {
      const { channel, source, pts } = event
      if (channel === null || source === null || pts === null) return output.publish(event)
      const before = waiting.get(channel)
      const picture = requestPicture(channel, source, pts)
      if (!before && !picture) return output.publish(event)
      const inTime = picture && withTimeout(waitMs, picture.sha256).catch(() => undefined)
      const done = Promise.all([inTime, before]).then(([sha256]) => {
        output.publish(sha256 ? { ...event, data: { ...event.data, picture: sha256 } } : event)
        if (picture && !sha256) publishLate(event, picture, output)
        if (waiting.get(channel) === done) waiting.delete(channel)
      })
      waiting.set(channel, done)
    },
    drain: async () => {
      await Promise.all(waiting.values())
      await Promise.all(late)
    },
  }
}
