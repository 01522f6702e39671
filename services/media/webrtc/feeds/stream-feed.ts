import { randomInt } from 'node:crypto'
import { TIMESCALE } from '@eyrie/kit/mp4-boxes'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/sound.ts'
import type { Stream } from '../../stream/live-stream.ts'
import { createH264Packetizer } from '../rtp/h264-packetizer.ts'
import { h264, type PayloadTypes, type RunningWorker } from '../worker/mediasoup-worker.ts'
import { createOrder } from './reordering.ts'
import { createSoundFeed, type JoinedSound, type SoundFeed } from './sound-feed.ts'

/** A stream as RTP inside the worker, from which all viewers with the same payload types are served. */
export interface StreamFeed {
  /** The consumers of this router's producer see the stream from a keyframe on. */
  readonly router: types.Router
  readonly producerId: string
  /** Whether a viewer who joins now sees a picture soon: with the first one, or since keyframes come often. */
  isSoon(): boolean
  /** To be called when a viewer can receive: the first one brings the group of pictures under way with him. */
  begin(): void
  /** A viewer wants the sound as well, which is made from now on until nobody wants it. To be left in the end. */
  joinSound(sound: Sound): Promise<JoinedSound>
  close(): void
}

export interface FeedOptions {
  worker: RunningWorker
  stream: Stream
  payloadTypes: PayloadTypes
  /** Told once, however it ended. */
  onClosed(): void
  /** Pictures are coded in another order than they are shown in. */
  onReordered(): void
}

/** A viewer waits so long for a keyframe, before he gets a feed of his own that begins at once. */
const MOST_WAIT_TICKS = 2 * TIMESCALE

/**
 * Packets go to the worker through its control channel (a DirectTransport): none is ever lost on the way, as they would be
 * where a keyframe overflows a UDP socket, and nobody else on the machine can send any.
 */
export async function openStreamFeed({
  worker,
  stream,
  payloadTypes,
  onClosed,
  onReordered,
}: FeedOptions): Promise<StreamFeed> {
  const ssrc = randomInt(1, 2 ** 32)
  const payloadType = payloadTypes.h264
  const router = await worker.createRouter(payloadTypes)
  const transport = await router.createDirectTransport()
  const producer = await transport.produce({
    kind: h264.kind,
    rtpParameters: {
      codecs: [{ ...h264, payloadType, rtcpFeedback: [] }],
      encodings: [{ ssrc }],
    },
  })
  const packetiser = createH264Packetizer({ payloadType, ssrc })
  const picture = { ssrc, rate: h264.clockRate }
  let soundFeed: SoundFeed | undefined
  let leave: (() => void) | undefined
  let late = true
  const order = createOrder()
  let newestPts = Number.NEGATIVE_INFINITY
  let keyframePts: number | undefined
  let keyframeTicks = 0

  router.observer.once('close', () => {
    leave?.()
    onClosed()
  })

  return {
    router,
    producerId: producer.id,
    isSoon: () =>
      keyframePts === undefined || Math.max(keyframeTicks, newestPts - keyframePts) <= MOST_WAIT_TICKS,
    begin() {
      if (router.closed) return
      leave ??= stream.watch({
        begin: (_info, _init, track) => packetiser.begin(track),
        fragment(_bytes, unit) {
          if (router.closed) return
          const pts = order.next(unit.pts)
          if (pts === undefined) {
            onReordered()
            return router.close()
          }
          newestPts = pts
          if (unit.keyframe) {
            keyframeTicks = pts - (keyframePts ?? pts)
            keyframePts = pts
          }
          for (const packet of packetiser.packets({ ...unit, pts })) producer.send(packet)
          soundFeed?.pictureSent(unit.pts, late)
        },
        backlog: () => 0,
        end: () => router.close(),
      })
      late = false
      // What it was shown at once may have closed it.
      if (router.closed) leave()
    },
    joinSound(sound) {
      soundFeed ??= createSoundFeed({ transport, sound, payloadType: payloadTypes.opus, picture })
      return soundFeed.join()
    },
    close: () => router.close(),
  }
}
