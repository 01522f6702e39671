import { randomInt } from 'node:crypto'
import { TIMESCALE } from '@eyrie/kit/mp4-boxes'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/source-sound.ts'
import type { Stream } from '../../stream/live-stream.ts'
import { createH264Packetizer } from '../rtp/h264-packetizer.ts'
import { h264Codec, type PayloadTypes, type WebRtcWorker } from '../worker/mediasoup-worker.ts'
import { createMonotonicPts } from './b-frame-detector.ts'
import { createSoundFeed, type SoundFeed, type SoundLease } from './sound-feed.ts'

/** A stream sent to the worker as RTP, for all viewers with the same payload types. */
export interface StreamFeed {
  /** Consumers of its producer receive the stream from a keyframe on. */
  readonly router: types.Router
  readonly producerId: string
  /** Whether a new viewer gets a picture soon: nothing has been sent yet, or keyframes are frequent. */
  canJoinSoon(): boolean
  /** Must be called when a viewer is connected. The first call sends the current GOP from its keyframe on. */
  start(): void
  /** Adds the source's sound to the feed until all leases are released. */
  acquireSound(sound: Sound): Promise<SoundLease>
  close(): void
}

export interface StreamFeedOptions {
  worker: WebRtcWorker
  stream: Stream
  payloadTypes: PayloadTypes
  /** Called once, when the feed is closed or the worker has died. */
  onClosed(): void
  /** Called before the feed closes because of B-frames. */
  onReordered(): void
}

/** A viewer who would wait longer for a keyframe gets a new feed, which begins at once. */
const MAX_KEYFRAME_WAIT_TICKS = 2 * TIMESCALE

/**
 * Creates a router that receives the stream through the worker's control channel (a DirectTransport). Unlike a UDP socket,
 * the channel loses no packets when a keyframe is larger than the socket's buffer, and no other process can send to it.
 */
export async function openStreamFeed({
  worker,
  stream,
  payloadTypes,
  onClosed,
  onReordered,
}: StreamFeedOptions): Promise<StreamFeed> {
  const ssrc = randomInt(1, 2 ** 32)
  const payloadType = payloadTypes.h264
  const router = await worker.createRouter(payloadTypes)
  const transport = await router.createDirectTransport()
  const producer = await transport.produce({
    kind: h264Codec.kind,
    rtpParameters: {
      codecs: [{ ...h264Codec, payloadType, rtcpFeedback: [] }],
      encodings: [{ ssrc }],
    },
  })
  const packetizer = createH264Packetizer({ payloadType, ssrc })
  const monotonic = createMonotonicPts()
  let soundFeed: SoundFeed | undefined
  let stopWatching: (() => void) | undefined
  /** While the cached units of the current GOP are sent, which are older than now. */
  let isCatchingUp = true
  let newestPts = Number.NEGATIVE_INFINITY
  let keyframePts: number | undefined
  let keyframeInterval = 0

  router.observer.once('close', () => {
    stopWatching?.()
    onClosed()
  })

  return {
    router,
    producerId: producer.id,
    canJoinSoon: () =>
      keyframePts === undefined ||
      Math.max(keyframeInterval, newestPts - keyframePts) <= MAX_KEYFRAME_WAIT_TICKS,
    start() {
      if (router.closed) return
      stopWatching ??= stream.watch({
        begin: (_info, _init, track) => packetizer.setTrack(track),
        fragment(_bytes, unit) {
          if (router.closed) return
          const pts = monotonic.next(unit.pts)
          if (pts === undefined) {
            onReordered()
            return router.close()
          }
          newestPts = pts
          if (unit.keyframe) {
            keyframeInterval = pts - (keyframePts ?? pts)
            keyframePts = pts
          }
          for (const packet of packetizer.packetize({ ...unit, pts })) producer.send(packet)
          soundFeed?.onPictureSent(unit.pts, isCatchingUp)
        },
        backlog: () => 0,
        end: () => router.close(),
      })
      isCatchingUp = false
      // The cached units may have closed the router before `stopWatching` was set.
      if (router.closed) stopWatching()
    },
    acquireSound(sound) {
      soundFeed ??= createSoundFeed({
        transport,
        sound,
        payloadType: payloadTypes.opus,
        video: { ssrc, clockRate: h264Codec.clockRate },
      })
      return soundFeed.acquire()
    },
    close: () => router.close(),
  }
}
