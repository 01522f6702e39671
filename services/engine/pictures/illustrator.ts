import type { Log } from '@eyrie/kit/log'
import type { Draft, Publisher } from '../ports.ts'
import type { Snapshot } from './snapshot.ts'
import type { PictureStore } from './store.ts'

type Event = Extract<Draft, { kind: 'event' }>

export interface IllustratorOptions {
  publisher: Publisher
  snapshot: Snapshot
  store: Pick<PictureStore, 'keep'>
  /** A channel has one picture in this time at most. */
  intervalMs: number
  /** ms of a monotonic clock. */
  now(): number
  log: Log
}

export interface Illustrator extends Publisher {
  /** Resolves when no event waits for its picture any more. */
  settled(): Promise<void>
}

interface Taken {
  pts: number
  at: number
  picture: Promise<string | undefined>
}

/**
 * Publishes, and gives events the picture of their frame. The events of a channel keep their order; other messages do
 * not wait. An event whose picture cannot be had goes without.
 */
export function createIllustrator({
  publisher,
  snapshot,
  store,
  intervalMs,
  now,
  log,
}: IllustratorOptions): Illustrator {
  const newest = new Map<number, Taken>()
  const waiting = new Map<number, Promise<void>>()

  const take = async (source: number, pts: number) => {
    try {
      return await store.keep(await snapshot(source, pts))
    } catch (error) {
      log.debug({ err: error, source, pts }, 'an event goes without a picture')
    }
  }

  const pictureFor = (channel: number, source: number, pts: number): Taken['picture'] | undefined => {
    const last = newest.get(channel)
    if (last?.pts === pts) return last.picture
    if (last && now() - last.at < intervalMs) return undefined
    const picture = take(source, pts)
    newest.set(channel, { pts, at: now(), picture })
    return picture
  }

  const illustrate = (event: Event, channel: number, source: number, pts: number) => {
    const before = waiting.get(channel)
    const picture = pictureFor(channel, source, pts)
    if (!before && !picture) return publisher.publish(event)
    const done = Promise.all([picture, before]).then(([sha256]) => {
      publisher.publish(sha256 ? { ...event, data: { ...event.data, picture: sha256 } } : event)
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
    },
  }
}
