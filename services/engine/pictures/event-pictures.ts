import type { PictureData } from '@eyrie/contract/output'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Log } from '@eyrie/kit/log'
import { withTimeout } from '@eyrie/kit/timeout'
import { isSameMoment, type LoadFramePicture } from '../media/frame-picture.ts'
import type { MessageDraft, Publisher } from '../output/message-draft.ts'
import type { PictureStore } from './picture-store.ts'

/**
 * Maximum time that an event waits for its picture, so that the event is sent within 100 ms after
 * the analysis of its frame.
 */
const WAIT_MS = 50

/**
 * Maximum time to wait for late pictures when the engine stops. The supervisor kills an engine that
 * needs more than 1.3 s.
 */
const DRAIN_MS = 800

type EventDraft = Extract<MessageDraft, { kind: 'event' }>

/** How the pictures that accompany events are loaded and stored. */
export interface EventPicturesOptions {
  loadPicture: LoadFramePicture
  store: Pick<PictureStore, 'save'>
  /**
   * Minimum time between two pictures of a channel. It is measured in stream time, because a
   * busy machine may analyse the frames of several seconds at once, and each of these
   * seconds needs its picture.
   */
  intervalMs: number
  /** `WAIT_MS` by default. */
  waitMs?: number
  log: Log
}

/**
 * Publishes the events of channels, such as a crossed line, with pictures. The picture of an
 * event shows its frame, or another frame within a second of it: several events in a short
 * time share one picture.
 */
export interface EventPictures {
  /**
   * Publishes an event to `output`. The events of a channel keep their order. If the picture is not
   * ready in time, the event is published without it, and the picture follows as a separate
   * message. If the picture cannot be loaded, the event remains without a picture.
   */
  publish(event: EventDraft, output: Publisher): void
  /**
   * Publishes a message of a channel after its pending events, such as the counters that these
   * events have changed.
   */
  publishAfterEvents(message: MessageDraft, output: Publisher): void
  /**
   * Called when the engine stops. Resolves when all pending events have been published, together
   * with the pictures that are ready within `DRAIN_MS`. Later pictures are dropped.
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
  /** Resolves when the picture is stored, or with undefined if it cannot be loaded or stored. */
  stored: Promise<StoredPicture | undefined>
  /**
   * The `pts` of the frames whose events were published without the picture. A separate message
   * with the picture follows once for each of these frames, even if it has several events.
   */
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
  /** By channel: resolves when the last of its waiting messages is published. */
  const waitingMessages = new Map<number, Promise<void>>()
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
   * Returns the picture for a frame. Requests a new one only after the interval. Before, returns
   * the last picture of the channel, or undefined if that shows another moment.
   */
  function findOrRequestPicture({
    channel,
    source,
    pts,
    epoch,
  }: FrameId): RequestedPicture | undefined {
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

  /**
   * Publishes the picture of an event that was published without it, as soon as the picture is
   * stored.
   */
  function publishSeparately(
    event: EventDraft,
    { pts, picture }: { pts: number; picture: RequestedPicture },
    output: Publisher,
  ): void {
    if (picture.framesSentSeparately.has(pts)) return
    picture.framesSentSeparately.add(pts)

    const publishWhenStored = async () => {
      const stored = await picture.stored
      const data = stored && toPictureData(stored, pts)
      const { kind: _kind, data: _data, ...frame } = event
      if (data && !hasDrained) output.publish({ ...frame, kind: 'picture', data })
    }
    const publishing = publishWhenStored()
    latePictures.add(publishing)
    void publishing.then(() => latePictures.delete(publishing))
  }

  /**
   * Calls `publish` with the result of `storedInTime`, but not before the earlier messages of the
   * channel are published.
   */
  function enqueue(
    channel: number,
    storedInTime: Promise<StoredPicture | undefined> | undefined,
    publish: (stored: StoredPicture | undefined) => void,
  ): void {
    const earlierMessages = waitingMessages.get(channel)
    const publishInTurn = async () => {
      const [stored] = await Promise.all([storedInTime, earlierMessages])
      publish(stored)
    }
    const publishing = publishInTurn()
    waitingMessages.set(channel, publishing)
    void publishing.then(() => {
      const isLast = waitingMessages.get(channel) === publishing
      if (isLast) waitingMessages.delete(channel)
    })
  }

  function publishAfterEvents(message: MessageDraft, output: Publisher): void {
    const { channel } = message
    if (channel === null || !waitingMessages.has(channel)) output.publish(message)
    else enqueue(channel, undefined, () => output.publish(message))
  }

  return {
    publishAfterEvents,
    publish(event, output) {
      const { channel, source, pts, epoch } = event
      const hasFrame = channel !== null && source !== null && pts !== null
      if (!hasFrame) return output.publish(event)

      const picture = findOrRequestPicture({ channel, source, pts, epoch })
      if (!picture) return publishAfterEvents(event, output)

      // Only the timeout rejects: after it, the event is published without the picture.
      const storedInTime = withTimeout(waitMs, picture.stored).catch(() => undefined)
      enqueue(channel, storedInTime, stored => {
        const data = stored && toPictureData(stored, pts)
        output.publish(data ? { ...event, data: { ...event.data, ...data } } : event)
        if (!data) publishSeparately(event, { pts, picture }, output)
      })
    },
    drain: async () => {
      await Promise.all(waitingMessages.values())
      // After the timeout, `hasDrained` prevents that the missing pictures are published.
      await withTimeout(DRAIN_MS, Promise.all(latePictures)).catch(() => {})
      hasDrained = true
    },
  }
}

/**
 * Describes a picture in the message of the frame at `pts`. Returns undefined if the picture
 * shows another moment.
 */
function toPictureData(picture: StoredPicture, pts: number): PictureData | undefined {
  if (!isSameMoment(picture.pts, pts)) return undefined
  const offsetMs = Math.round(((picture.pts - pts) * 1000) / TICKS_PER_SECOND)
  return { picture: picture.sha256, ...(offsetMs !== 0 && { picture_offset: offsetMs }) }
}
