import { EyrieError, type WebRtcHealth } from '@eyrie/contract'
import type { WebRtcSettings } from '@eyrie/contract/settings'
import type { Log } from '@eyrie/kit'
import type { Clock } from '../runtime/clock.ts'
import type { Sound } from '../sound/source-sound.ts'
import type { Stream } from '../stream/live-stream.ts'
import { createBFrameDetector } from './feeds/b-frame-detector.ts'
import { createSharedFeeds } from './feeds/shared-feeds.ts'
import type { SoundLease } from './feeds/sound-feed.ts'
import { resolveListenAddresses } from './ice-addresses.ts'
import {
  type Offer,
  type OfferedFormat,
  type OfferedH264,
  parseOffer,
  selectH264,
} from './sdp/sdp-offer.ts'
import { openWhepSession, type WhepSession } from './whep-session.ts'
import { createWorkerSupervisor, type PayloadTypes } from './worker/mediasoup-worker.ts'

/**
 * Live views over WebRTC. The media service packetizes a stream as RTP; a mediasoup worker process
 * forwards the packets to viewers. A stream is sent to the worker only while it has WebRTC viewers.
 */
export interface WebRtc {
  readonly settings: WebRtcSettings
  /** Returns whether WebRTC can carry the stream: false if it has B-frames. */
  canCarry(stream: Stream): boolean
  /**
   * Connects a viewer to a stream, and to its sound if the viewer accepts audio. `sdp` is the
   * viewer's offer. Throws `EyrieError`: `syntax` or `type` for an unsuitable offer, `type` for a
   * stream with B-frames, `unavailable` without a worker or a picture. With `leaseMs`, the session
   * ends if it is not renewed for this time.
   */
  openSession(
    stream: Stream,
    sound: Sound | undefined,
    sdp: string,
    leaseMs?: number,
  ): Promise<WhepSession>
  /** Returns the session with this id. Throws `EyrieError` (`id`) if it has ended. */
  getSession(id: string): WhepSession
  health(): WebRtcHealth
  stop(): Promise<void>
}

export interface WebRtcOptions {
  settings: WebRtcSettings
  /** Address of the HTTP server. */
  host: string
  workerPaths: readonly string[]
  clock: Clock
  random: () => number
  log: Log
}

const B_FRAMES_REASON =
  'the stream has B-frames, which WebRTC cannot carry: watch it as fragmented MP4, or set the ' +
  'number of B-frames to 0 in the camera (the H.264 profile Baseline has none)'
/**
 * The payload type that browsers use for Opus. With the same number, viewers with and without
 * sound can share a feed.
 */
const DEFAULT_OPUS_PAYLOAD_TYPE = 111

export function createWebRtc({ settings, host, ...options }: WebRtcOptions): WebRtc {
  const { clock } = options

  const worker = createWorkerSupervisor({
    ...options,
    listen: resolveListenAddresses(settings.listen, host),
    ports: settings.ports,
  })
  const sessions = new Map<string, WhepSession>()
  const bFrames = createBFrameDetector()
  const feeds = createSharedFeeds(bFrames.markReordered)

  /**
   * Selects the format in which the viewer receives the stream. Throws `EyrieError` if WebRTC
   * cannot carry the stream.
   */
  function selectFormat(offer: Offer, stream: Stream): OfferedH264 {
    const track = stream.track()
    if (!track) throw new EyrieError('unavailable', 'the stream has no picture yet')
    const format = selectH264(offer.h264, track.avcC)
    if (bFrames.hasBFrames(stream)) throw new EyrieError('type', B_FRAMES_REASON, { status: 406 })
    return format
  }

  return {
    settings,
    canCarry: stream => !bFrames.hasBFrames(stream),

    async openSession(stream, sound, sdp, leaseMs) {
      if (!settings.enabled) throw new EyrieError('unavailable', 'WebRTC is disabled in eyrie.json')

      const offer = parseOffer(sdp)
      const format = selectFormat(offer, stream)
      const opus = offer.audio?.opus
      const sendsSound = opus && sound && (await sound.isPresent())
      const payloadTypes = choosePayloadTypes(format, opus)

      const runningWorker = await worker.getWorker()
      const feedLease = feeds.acquire(runningWorker, stream, payloadTypes)
      let soundLease: SoundLease | undefined
      function release() {
        soundLease?.release()
        feedLease.release()
      }

      try {
        const feed = await feedLease.feed
        if (sendsSound) soundLease = await feed.acquireSound(sound)
        const session = await openWhepSession({
          worker: runningWorker,
          feed,
          offer,
          format,
          payloadTypes,
          sound: soundLease && opus && { lease: soundLease, format: opus },
          announced: settings.announced,
          leaseMs,
          clock,
          onClosed({ id }) {
            sessions.delete(id)
            release()
          },
        })
        sessions.set(session.id, session)
        return session
      } catch (cause) {
        release()
        const reason = `failed to open the WebRTC connection: ${(cause as Error).message}`
        throw new EyrieError('unavailable', reason, { cause })
      }
    },

    getSession(id) {
      const session = sessions.get(id)
      if (!session) {
        throw new EyrieError(
          'id',
          'this WebRTC session does not exist or has ended: POST a new offer',
        )
      }
      return session
    },

    health() {
      if (!settings.enabled) return { state: 'off', viewers: 0 }
      return { ...worker.health(), viewers: sessions.size }
    },

    stop: worker.stop,
  }
}

/** Chooses different payload types for H.264 and Opus, as offered if possible. */
function choosePayloadTypes(
  { payloadType: h264 }: OfferedH264,
  opus: OfferedFormat | undefined,
): PayloadTypes {
  const candidates = [opus?.payloadType, DEFAULT_OPUS_PAYLOAD_TYPE, DEFAULT_OPUS_PAYLOAD_TYPE + 1]
  return { h264, opus: candidates.find(type => type !== undefined && type !== h264)! }
}
