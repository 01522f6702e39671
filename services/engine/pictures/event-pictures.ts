import type { PictureData } from '@eyrie/contract/output'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Log } from '@eyrie/kit/log'
import { withTimeout } from '@eyrie/kit/timeout'
import { isSameMoment, type LoadFramePicture } from '../media/frame-picture.ts'
import type { MessageDraft, Publisher } from '../output/message-draft.ts'
import type { PictureStore } from './picture-store.ts'

/** Maximum time that an event waits for its picture. An event is sent within 100 ms after the analysis of its frame. */
const WAIT_MS = 50

/** Maximum time to wait for late pictures when the engine stops. The supervisor kills an engine that needs more than 1.3 s. */
const DRAIN_MS = 800

type EventDraft = Extract<MessageDraft, { kind: 'event' }>

/** How the pictures that accompany events are loaded and stored. */
export interface EventPicturesOptions {
  loadPicture: LoadFramePicture
  store: Pick<PictureStore, 'save'>
  /**
   * Minimum time between two pictures of a channel. It is measured in stream time, because a busy machine may analyse
   * the frames of several seconds at once, and each of these seconds needs its picture.
   */
  intervalMs: number
  /** `WAIT_MS` by default. */
  waitMs?: number
  log: Log
}

/** Publishes the events of channels, such as a crossed line, with the pictures of their frames or of the same second. */
export interface EventPictures {
  /**
   * Publishes an event to `output`, with the picture of its frame, or with the previous picture of the channel if the
   * interval has not passed and the picture shows the same second. The events of a channel keep their order. If the
   * picture is not ready in time, the event is published without it, and the picture follows as a separate message. If
   * the picture cannot be loaded, the event remains without a picture.
   */
  publish(event: EventDraft, output: Publisher): void
  /** Publishes a message of a channel after its pending events, such as the counters that these events have changed. */
  publishAfterEvents(message: MessageDraft, output: Publisher): void
  /**
   * Resolves when all pending events have been published, and the pictures that are ready within `DRAIN_MS`. Later pictures are
   * dropped, because the engine stops.
   */
  drain(): Promise<void>
}

/** The frame of a message. */
interface FrameId {
  channel: number
  source: number
  pts: number
  epoch: number | null
}

interface RequestedPicture {
  pts: number
  epoch: number | null
  /** Undefined if the picture cannot be loaded or stored. */
  stored: Promise<StoredPicture | undefined>
  /** The `pts` of the frames for which the picture follows as a separate message: one message, even for several events. */
  framesSentSeparately: Set<number>
}

interface StoredPicture {
  sha256: string
  pts: number
}

export function createEventPictures({
  loadPicture,
  store,
  intervalMs,
  waitMs = WAIT_MS,
  log,
}: EventPicturesOptions): EventPictures {
  /** The last requested picture of each channel. */
  const lastPictures = new Map<number, RequestedPicture>()
  const intervalTicks = (intervalMs * TICKS_PER_SECOND) / 1000
  /** Resolves when the last pending message of a channel is published, by channel. */
  const pendingMessages = new Map<number, Promise<void>>()
  /** The pictures that will follow their events as separate messages. */
  const latePictures = new Set<Promise<void>>()
  let hasDrained = false

  async function loadAndStore(source: number, pts: number): Promise<StoredPicture | undefined> {
    try {
      const picture = await loadPicture(source, pts)
      return { sha256: await store.save(picture.jpeg), pts: picture.pts }
    } catch (error) {
      log.debug({ err: error, source, pts }, 'failed to load picture of event')
      return undefined
    }
  }

  /**
   * Requests the picture of a frame. Until the interval has passed, returns the previous picture, or undefined if it shows
   * another moment.
   */
  function requestPicture({ channel, source, pts, epoch }: FrameId): RequestedPicture | undefined {
    const last = lastPictures.get(channel)
    if (last?.epoch === epoch) {
      const isSameFrame = last.pts === pts
      const isWithinInterval = Math.abs(last.pts - pts) < intervalTicks
      if (isSameFrame || isWithinInterval) return isSameMoment(last.pts, pts) ? last : undefined
    }

    const stored = loadAndStore(source, pts)
    const picture: RequestedPicture = { pts, epoch, stored, framesSentSeparately: new Set() }
    lastPictures.set(channel, picture)
    return picture
  }

  /** Publishes the picture of an event that was published without it, as soon as the picture is stored. */
  function publishSeparately(
    event: EventDraft,
    pts: number,
    picture: RequestedPicture,
    output: Publisher,
  ): void {
    if (picture.framesSentSeparately.has(pts)) return
    picture.framesSentSeparately.add(pts)

    const { kind: _, data: __, ...frame } = event
    const published = picture.stored.then(stored => {
      const data = stored && toPictureData(stored, pts)
      if (data && !hasDrained) output.publish({ ...frame, kind: 'picture', data })
      latePictures.delete(published)
    })
    latePictures.add(published)
  }

  /** Calls `publish` when the earlier messages of the channel are published, and `storedInTime` has resolved. */
  function enqueue(
    channel: number,
    storedInTime: Promise<StoredPicture | undefined> | undefined,
    publish: (stored: StoredPicture | undefined) => void,
  ): void {
    const published = Promise.all([storedInTime, pendingMessages.get(channel)]).then(([stored]) => {
      publish(stored)
      if (pendingMessages.get(channel) === published) pendingMessages.delete(channel)
    })
    pendingMessages.set(channel, published)
  }

  function publishAfterEvents(message: MessageDraft, output: Publisher): void {
    const { channel } = message
    if (channel === null || !pendingMessages.has(channel)) output.publish(message)
    else enqueue(channel, undefined, () => output.publish(message))
  }

  return {
    publishAfterEvents,
    publish(event, output) {
      const { channel, source, pts, epoch } = event
      const hasFrame = channel !== null && source !== null && pts !== null
      if (!hasFrame) return output.publish(event)

      const picture = requestPicture({ channel, source, pts, epoch })
      if (!picture) return publishAfterEvents(event, output)

      // An event does not wait any longer than `waitMs`.
      const storedInTime = withTimeout(waitMs, picture.stored).catch(() => undefined)
      enqueue(channel, storedInTime, stored => {
        const data = stored && toPictureData(stored, pts)
        output.publish(data ? { ...event, data: { ...event.data, ...data } } : event)
        if (!data) publishSeparately(event, pts, picture, output)
      })
    },
    drain: async () => {
      await Promise.all(pendingMessages.values())
      // After the timeout, `hasDrained` drops the pictures that are still missing.
      await withTimeout(DRAIN_MS, Promise.all(latePictures)).catch(() => {})
      hasDrained = true
    },
  }
}

/** Returns what a message reports about a picture of the frame at `pts`; undefined if the picture shows another moment. */
function toPictureData(picture: StoredPicture, pts: number): PictureData | undefined {
  if (!isSameMoment(picture.pts, pts)) return undefined
  const offsetMs = Math.round(((picture.pts - pts) * 1000) / TICKS_PER_SECOND)
  return { picture: picture.sha256, ...(offsetMs !== 0 && { picture_offset: offsetMs }) }
}
