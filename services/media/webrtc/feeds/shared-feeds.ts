import { isDeepStrictEqual } from 'node:util'
import type { Stream } from '../../stream/live-stream.ts'
import type { PayloadTypes, WebRtcWorker } from '../worker/mediasoup-worker.ts'
import { openStreamFeed, type StreamFeed } from './stream-feed.ts'

/**
 * A viewer's share of a feed. A feed sends a stream to the WebRTC worker process for all its
 * viewers, and closes when the last lease is released.
 */
export interface FeedLease {
  /** Rejects if the worker has died. */
  readonly feed: Promise<StreamFeed>
  release(): void
}

/**
 * Manages the feeds of all streams. Viewers of a stream share a feed, unless its next
 * keyframe is too far away.
 */
export interface SharedFeeds {
  /** Returns a lease of a suitable feed, which is opened if necessary. */
  acquire(worker: WebRtcWorker, stream: Stream, payloadTypes: PayloadTypes): FeedLease
}

interface SharedFeed {
  stream: Stream
  payloadTypes: PayloadTypes
  /** Number of viewers that use the feed. */
  leaseCount: number
  opening: Promise<StreamFeed>
  /** Set once `opening` has resolved. */
  opened?: StreamFeed
}

/** `onReordered` is called when a stream has B-frames, which WebRTC cannot carry. */
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
    const shared: SharedFeed = { stream, payloadTypes, leaseCount: 0, opening }
    feeds.add(shared)

    opening.then(
      feed => {
        shared.opened = feed
      },
      // The lease reports the failure to the viewer.
      remove,
    )
    return shared
  }

  /** Returns a feed of the stream in which a new viewer soon gets a picture. */
  function findJoinable(stream: Stream, payloadTypes: PayloadTypes): SharedFeed | undefined {
    for (const shared of feeds) {
      const isSuitable =
        shared.stream === stream && isDeepStrictEqual(shared.payloadTypes, payloadTypes)
      // A feed that is still opening has not sent anything, so its viewers miss nothing.
      const canJoinSoon = shared.opened?.canJoinSoon() ?? true
      if (isSuitable && canJoinSoon) return shared
    }
    return undefined
  }

  async function closeIfUnused(shared: SharedFeed) {
    const feed = await shared.opening.catch(() => undefined)
    // A viewer may have joined meanwhile.
    if (shared.leaseCount === 0) feed?.close()
  }

  return {
    acquire(worker, stream, payloadTypes) {
      const shared = findJoinable(stream, payloadTypes) ?? open(worker, stream, payloadTypes)
      shared.leaseCount++

      let isReleased = false
      return {
        feed: shared.opening,
        release() {
          if (isReleased) return
          isReleased = true
          shared.leaseCount--
          if (shared.leaseCount === 0) void closeIfUnused(shared)
        },
      }
    },
  }
}
