import type { Log } from '@eyrie/kit/log'
import { withTimeout } from '@eyrie/kit/timeout'
import type { Draft, Publisher } from '../ports.ts'
import type { Snapshot } from './snapshot.ts'
import type { PictureStore } from './store.ts'

/** An event waits so long for its picture: it is to be on disk and sent 100 ms after its frame was analysed. */
const WAIT_MS = 50

type Event = Extract<Draft, { kind: 'event' }>

export interface IllustratorOptions {
  publisher: Publisher
  snapshot: Snapshot
  store: Pick<PictureStore, 'keep'>
  /** A channel has one picture in this time at most. */
  intervalMs: number
  waitMs?: number
  /** ms of a monotonic clock. */
  now(): number
  log: Log
}

export interface Illustrator extends Publisher {
  /** Resolves when no picture is awaited any more. */
  settled(): Promise<void>
}

interface Taken {
  pts: number
  at: number
  picture: Promise<string | undefined>
  /** An event has gone without it: it follows by itself. */
  isLate: boolean
}

/**
 * Publishes, and gives events the picture of their frame. The events of a channel keep their order; other messages do
 * not wait. A picture that is not ready in time follows as a message of its own; one that cannot be had is left out.
 */
export function createIllustrator({
  publisher,
  snapshot,
  store,
  intervalMs,
  waitMs = WAIT_MS,
  now,
  log,
}: IllustratorOptions): Illustrator {
  const newest = new Map<number, Taken>()
  const waiting = new Map<number, Promise<void>>()
  const late = new Set<Promise<void>>()

  const take = async (source: number, pts: number) => {
    try {
      return await store.keep(await snapshot(source, pts))
    } catch (error) {
      log.debug({ err: error, source, pts }, 'an event goes without a picture')
    }
  }

  const pictureFor = (channel: number, source: number, pts: number): Taken | undefined => {
    const last = newest.get(channel)
    if (last?.pts === pts) return last
    if (last && now() - last.at < intervalMs) return undefined
    const taken: Taken = { pts, at: now(), picture: take(source, pts), isLate: false }
    newest.set(channel, taken)
    return taken
  }

  /** Events of one frame have one picture, which follows once. */
  const follow = (event: Event, taken: Taken) => {
    if (taken.isLate) return
    taken.isLate = true
    const { kind: _, data: __, ...place } = event
    const done = taken.picture.then(picture => {
      if (picture) publisher.publish({ ...place, kind: 'picture', data: { picture } })
      late.delete(done)
    })
    late.add(done)
  }

  const illustrate = (event: Event, channel: number, source: number, pts: number) => {
    const before = waiting.get(channel)
    const taken = pictureFor(channel, source, pts)
    if (!before && !taken) return publisher.publish(event)
    const inTime = taken && withTimeout(waitMs, taken.picture).catch(() => undefined)
    const done = Promise.all([inTime, before]).then(([sha256]) => {
      publisher.publish(sha256 ? { ...event, data: { ...event.data, picture: sha256 } } : event)
      if (taken && !sha256) follow(event, taken)
      if (waiting.get(channel) === done) waiting.delete(channel)
    })
    waiting.set(channel, done)
  }

  return {
    publish: draft => {
      const { channel, source, pts } = draft
      if (draft.kind !== 'event' || channel === null || source === null || pts === null)
        publisher.publish(draft)
      else illustrate(draft, channel, source, pts)
    },
    settled: async () => {
      await Promise.all(waiting.values())
      await Promise.all(late)
    },
  }
}
