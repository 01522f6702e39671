import type { Stream } from '../live/stream.ts'
import { type Feed, openFeed } from './feed.ts'
import type { RunningWorker } from './worker.ts'

/** A feed, and how many viewers are on it or on their way to it. */
export interface SharedFeed {
  readonly feed: Promise<Feed>
  leave(): void
}

/** The feeds of all streams: as few as let every viewer begin soon. */
export interface Feeds {
  /** To be left in the end. Rejects `feed` where the worker has gone. */
  join(worker: RunningWorker, stream: Stream, payloadType: number): SharedFeed
}

interface Entry {
  stream: Stream
  payloadType: number
  users: number
  opening: Promise<Feed>
  /** Once it is there. */
  opened?: Feed
}

export function createFeeds(onReordered: (stream: Stream) => void): Feeds {
  const entries = new Set<Entry>()

  function open(worker: RunningWorker, stream: Stream, payloadType: number): Entry {
    const forget = () => entries.delete(entry)
    const opening = openFeed({
      worker,
      stream,
      payloadType,
      onClosed: forget,
      onReordered: () => onReordered(stream),
    })
    const entry: Entry = { stream, payloadType, users: 0, opening }
    entries.add(entry)
    opening.then(feed => {
      entry.opened = feed
    }, forget)
    return entry
  }

  function find(stream: Stream, payloadType: number): Entry | undefined {
    for (const entry of entries) {
      const isSame = entry.stream === stream && entry.payloadType === payloadType
      if (isSame && (!entry.opened || entry.opened.isSoon())) return entry
    }
    return undefined
  }

  return {
    join(worker, stream, payloadType) {
      const entry = find(stream, payloadType) ?? open(worker, stream, payloadType)
      entry.users++
      let here = true
      return {
        feed: entry.opening,
        leave() {
          if (!here) return
          here = false
          entry.users--
          if (entry.users === 0)
            entry.opening.then(
              feed => entry.users || feed.close(),
              () => {},
            )
        },
      }
    },
  }
}
