import type { Log } from '@eyrie/kit/log'
import { withTimeout } from '@eyrie/kit/timeout'
import type { LoadFramePicture } from '../media/frame-picture.ts'
import type { MessageDraft, Publisher } from '../output/message-draft.ts'
import type { PictureStore } from './picture-store.ts'

/** Leaves enough time to store and send the event within 100 ms after the analysis of its frame. */
const WAIT_MS = 50

type EventDraft = Extract<MessageDraft, { kind: 'event' }>

/** How the pictures that accompany events are loaded and stored. */
export interface EventPicturesOptions {
  loadPicture: LoadFramePicture
  store: Pick<PictureStore, 'save'>
  /** Minimum time between two pictures of a channel. */
  intervalMs: number
  /** Maximum time that an event waits for its picture. */
  waitMs?: number
  /** Returns the time of a monotonic clock in ms. */
  now(): number
  log: Log
}

/** Publishes the events of channels, such as a crossed line, with the pictures of their frames. */
export interface EventPictures {
  /**
   * Publishes an event to `output`, with the picture of its frame. The events of a channel keep their order. If the
   * picture is not ready in time, the event is published without it, and the picture follows as a separate message. If
   * the picture cannot be loaded, the event remains without a picture.
   */
  publish(event: EventDraft, output: Publisher): void
  /** Resolves when all pending events and pictures have been published. */
  drain(): Promise<void>
}

interface RequestedPicture {
  pts: number
  /** Time of the monotonic clock in ms. */
  requestedAt: number
  /** Hash of the stored picture; undefined if it cannot be loaded or stored. */
  sha256: Promise<string | undefined>
  /** Whether the picture is published as a separate message. It is sent only once, even for several events. */
  isSentSeparately: boolean
}

export function createEventPictures({
  loadPicture,
  store,
  intervalMs,
  waitMs = WAIT_MS,
  now,
  log,
}: EventPicturesOptions): EventPictures {
  /** The last requested picture of each channel. */
  const lastPictures = new Map<number, RequestedPicture>()
  /** The publication of the last pending event of each channel. */
  const pendingEvents = new Map<number, Promise<void>>()
  const latePictures = new Set<Promise<void>>()

  /** Returns the hash of the stored picture; undefined if it cannot be loaded or stored. */
  async function loadAndStore(source: number, pts: number): Promise<string | undefined> {
    try {
      const picture = await loadPicture(source, pts)
      return await store.save(picture)
    } catch (error) {
      log.debug({ err: error, source, pts }, 'failed to load picture of event')
      return undefined
    }
  }

  /**
   * Requests the picture of a frame; undefined if the previous request was too recent. Events of a frame share a
   * picture.
   */
  function requestPicture(channel: number, source: number, pts: number): RequestedPicture | undefined {
    const last = lastPictures.get(channel)
    if (last?.pts === pts) return last
    const isTooSoon = last !== undefined && now() - last.requestedAt < intervalMs
    if (isTooSoon) return undefined

    const picture: RequestedPicture = {
      pts,
      requestedAt: now(),
      sha256: loadAndStore(source, pts),
      isSentSeparately: false,
    }
    lastPictures.set(channel, picture)
    return picture
  }

  /** Publishes the picture of an event that was published without it, when the picture has been loaded. */
  function publishSeparately(event: EventDraft, picture: RequestedPicture, output: Publisher): void {
    if (picture.isSentSeparately) return
    picture.isSentSeparately = true

    const { kind: _, data: __, ...frame } = event
    const published = picture.sha256.then(sha256 => {
      if (sha256) output.publish({ ...frame, kind: 'picture', data: { picture: sha256 } })
      latePictures.delete(published)
    })
    latePictures.add(published)
  }

  return {
    publish(event, output) {
      const { channel, source, pts } = event
      const hasFrame = channel !== null && source !== null && pts !== null
      if (!hasFrame) return output.publish(event)

      const previousEvent = pendingEvents.get(channel)
      const picture = requestPicture(channel, source, pts)
      if (!previousEvent && !picture) return output.publish(event)

      const sha256InTime = picture && withTimeout(waitMs, picture.sha256).catch(() => undefined)
      // Waiting for the previous event keeps the order.
      const published = Promise.all([sha256InTime, previousEvent]).then(([sha256]) => {
        output.publish(sha256 ? addPicture(event, sha256) : event)
        if (picture && !sha256) publishSeparately(event, picture, output)
        if (pendingEvents.get(channel) === published) pendingEvents.delete(channel)
      })
      pendingEvents.set(channel, published)
    },
    drain: async () => {
      await Promise.all(pendingEvents.values())
      await Promise.all(latePictures)
    },
  }
}

function addPicture(event: EventDraft, sha256: string): EventDraft {
  return { ...event, data: { ...event.data, picture: sha256 } }
}
