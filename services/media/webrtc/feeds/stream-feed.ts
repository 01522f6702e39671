import { randomInt } from 'node:crypto'
import { TIMESCALE } from '@eyrie/kit/mp4-boxes'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/source-sound.ts'
import type { Stream, StreamUnit } from '../../stream/live-stream.ts'
import { createH264Packetizer } from '../rtp/h264-packetizer.ts'
import { H264_CODEC, type PayloadTypes, type WebRtcWorker } from '../worker/mediasoup-worker.ts'
import { createMonotonicPts } from './monotonic-pts.ts'
import { createSoundFeed, type SoundFeed, type SoundLease } from './sound-feed.ts'

/**
 * Sends a live view as RTP to the WebRTC worker (a mediasoup process), which forwards it to all
 * viewers with the same RTP payload types.
 */
export interface StreamFeed {
  /**
   * mediasoup router of the feed. A viewer consumes the producer and receives the stream
   * beginning with a keyframe.
   */
  readonly router: types.Router
  readonly producerId: string
  /**
   * Returns whether a new viewer gets a picture soon, because nothing has been sent yet or
   * keyframes are frequent.
   */
  canJoinSoon(): boolean
  /**
   * Must be called when a viewer has connected. The first call sends the buffered pictures
   * since the last keyframe.
   */
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
  /** Called when the stream has B-frames, before the feed closes for this reason. */
  onReordered(): void
}

/** Instead of waiting longer for a keyframe, a viewer gets a new feed, which begins at once. */
const MAX_KEYFRAME_WAIT_TICKS = 2 * TIMESCALE

/**
 * Creates a mediasoup router that receives the stream through the worker's control channel (a
 * DirectTransport). Unlike a local UDP socket, the channel loses no packets of large keyframes, and
 * no other process can send to it.
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
    kind: H264_CODEC.kind,
    rtpParameters: {
      codecs: [{ ...H264_CODEC, payloadType, rtcpFeedback: [] }],
      encodings: [{ ssrc }],
    },
  })

  const packetizer = createH264Packetizer({ payloadType, ssrc })
  const monotonicPts = createMonotonicPts()
  let soundFeed: SoundFeed | undefined
  let stopWatching: (() => void) | undefined
  /** True while buffered pictures are sent, whose time of arrival is in the past. */
  let isSendingBuffered = true
  const keyframes = createKeyframeInterval()

  router.observer.once('close', () => {
    stopWatching?.()
    onClosed()
  })

  function send(unit: StreamUnit) {
    if (router.closed) return
    const pts = monotonicPts.next(unit.pts)
    // Without a later time, the picture is out of order: the stream has B-frames.
    if (pts === undefined) {
      onReordered()
      router.close()
      return
    }

    keyframes.addPicture(pts, unit.keyframe)
    for (const packet of packetizer.packetize({ ...unit, pts })) producer.send(packet)
    soundFeed?.onPictureSent({ pts: unit.pts, isBuffered: isSendingBuffered })
  }

  return {
    router,
    producerId: producer.id,
    canJoinSoon: () => keyframes.currentTicks() <= MAX_KEYFRAME_WAIT_TICKS,
    start() {
      if (router.closed) return
      stopWatching ??= stream.watch({
        begin: (_info, _init, track) => packetizer.setTrack(track),
        fragment: (_bytes, unit) => send(unit),
        backlog: () => 0,
        end: () => router.close(),
      })
      isSendingBuffered = false
      // B-frames in the buffered pictures close the router before `stopWatching` is set.
      if (router.closed) stopWatching()
    },
    acquireSound(sound) {
      soundFeed ??= createSoundFeed({
        transport,
        sound,
        payloadType: payloadTypes.opus,
        video: { ssrc, clockRate: H264_CODEC.clockRate },
      })
      return soundFeed.acquire()
    },
    close: () => router.close(),
  }
}

/** Measures the time between the keyframes of a stream. */
function createKeyframeInterval() {
  let newestPts = Number.NEGATIVE_INFINITY
  /** Time of the last keyframe; undefined before the first one. */
  let keyframePts: number | undefined
  /** Time between the last two keyframes. */
  let lastInterval = 0

  return {
    addPicture(pts: number, isKeyframe: boolean): void {
      newestPts = pts
      if (!isKeyframe) return
      lastInterval = pts - (keyframePts ?? pts)
      keyframePts = pts
    },

    /** Returns the interval in ticks; 0 before the first keyframe. */
    currentTicks(): number {
      if (keyframePts === undefined) return 0
      // The interval grows while the next keyframe has not arrived.
      return Math.max(lastInterval, newestPts - keyframePts)
    },
  }
}
