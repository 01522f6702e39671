import { isDeepStrictEqual } from 'node:util'
import type { Stream } from '../../stream/live-stream.ts'
import type { PayloadTypes, RunningWorker } from '../worker/mediasoup-worker.ts'
import { openStreamFeed, type StreamFeed } from './stream-feed.ts'

/** A feed, and how many viewers are on it or on their way to it. */
export interface SharedFeed {
  readonly feed: Promise<StreamFeed>
  leave(): void
}

/** The feeds of all streams: as few as let every viewer begin soon. */
export interface SharedFeeds {
  /** To be left in the end. Rejects `feed` where the worker has gone. */
  join(worker: RunningWorker, stream: Stream, payloadTypes: PayloadTypes): SharedFeed
}

interface Entry {
  stream: Stream
  payloadTypes: PayloadTypes
  users: number
  opening: Promise<StreamFeed>
  /** Once it is there. */
  opened?: StreamFeed
}

export function createSharedFeeds(onReordered: (stream: Stream) => void): SharedFeeds {
  const entries = new Set<Entry>()

  function open(worker: RunningWorker, stream: Stream, payloadTypes: PayloadTypes): Entry {
    const forget = () => entries.delete(entry)
    const opening = openStreamFeed({
      worker,
      stream,
      payloadTypes,
      onClosed: forget,
      onReordered: () => onReordered(stream),
    })
    const entry: Entry = { stream, payloadTypes, users: 0, opening }
    entries.add(entry)
    opening.then(feed => {
      entry.opened = feed
    }, forget)
    return entry
  }

  function find(stream: Stream, payloadTypes: PayloadTypes): Entry | undefined {
    for (const entry of entries) {
      const isSame = entry.stream === stream && isDeepStrictEqual(entry.payloadTypes, payloadTypes)
      if (isSame && (!entry.opened || entry.opened.isSoon())) return entry
    }
    return undefined
  }

  return {
    join(worker, stream, payloadTypes) {
      const entry = find(stream, payloadTypes) ?? open(worker, stream, payloadTypes)
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
