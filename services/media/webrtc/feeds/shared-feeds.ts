import { isDeepStrictEqual } from 'node:util'
import type { Stream } from '../../stream/live-stream.ts'
import type { PayloadTypes, WebRtcWorker } from '../worker/mediasoup-worker.ts'
import { openStreamFeed, type StreamFeed } from './stream-feed.ts'

/**
 * A viewer's share of a feed. A feed sends a stream to the WebRTC worker process for all its viewers, and closes when the last
 * lease is released.
 */
export interface FeedLease {
  /** Rejects if the worker has died. */
  readonly feed: Promise<StreamFeed>
  release(): void
}

/** Manages the feeds of all streams. Viewers of a stream share a feed, unless its next keyframe is too far away. */
export interface SharedFeeds {
  /** Returns a lease of a suitable feed, which is opened if necessary. */
  acquire(worker: WebRtcWorker, stream: Stream, payloadTypes: PayloadTypes): FeedLease
}

interface SharedFeed {
  stream: Stream
  payloadTypes: PayloadTypes
  leases: number
  opening: Promise<StreamFeed>
  /** Set once `opening` has resolved. */
  opened?: StreamFeed
}

/** `onReordered` is called when a stream turns out to have B-frames. */
export function createSharedFeeds(onReordered: (stream: Stream) => void): SharedFeeds {
  const feeds = new Set<SharedFeed>()

  function open(worker: WebRtcWorker, stream: Stream, payloadTypes: PayloadTypes): SharedFeed {
    const remove = () => feeds.delete(shared)

    const opening = openStreamFeed({
      worker,
      stream,
      payloadTypes,
      onClosed: remove,
      onReordered: () => onReordered(stream),
    })
    const shared: SharedFeed = { stream, payloadTypes, leases: 0, opening }
    feeds.add(shared)

    opening.then(feed => {
      shared.opened = feed
    }, remove)
    return shared
  }

  /** Returns an open feed in which a new viewer soon gets a picture. */
  function find(stream: Stream, payloadTypes: PayloadTypes): SharedFeed | undefined {
    for (const shared of feeds) {
      const isSame = shared.stream === stream && isDeepStrictEqual(shared.payloadTypes, payloadTypes)
      if (!isSame) continue
      if (!shared.opened || shared.opened.canJoinSoon()) return shared
    }
    return undefined
  }

  async function closeIfUnused(shared: SharedFeed) {
    const feed = await shared.opening.catch(() => undefined)
    if (shared.leases === 0) feed?.close()
  }

  return {
    acquire(worker, stream, payloadTypes) {
      const shared = find(stream, payloadTypes) ?? open(worker, stream, payloadTypes)
      shared.leases++

      let isReleased = false
      return {
        feed: shared.opening,
        release() {
          if (isReleased) return
          isReleased = true
          shared.leases--
          if (shared.leases === 0) void closeIfUnused(shared)
        },
      }
    },
  }
}
