import { EyrieError, type WebRtcHealth } from '@eyrie/contract'
import type { WebRtcSettings } from '@eyrie/contract/settings'
import type { Log } from '@eyrie/kit'
import type { Clock } from '../runtime/clock.ts'
import type { Sound } from '../sound/sound.ts'
import type { Stream } from '../stream/live-stream.ts'
import { createReordering } from './feeds/reordering.ts'
import { createSharedFeeds } from './feeds/shared-feeds.ts'
import type { JoinedSound } from './feeds/sound-feed.ts'
import { listenAddresses } from './ice-addresses.ts'
import { chooseH264, type OfferedH264, type OfferedOpus, readOffer } from './sdp/sdp-offer.ts'
import { openWhepSession, type WhepSession } from './whep-session.ts'
import { createWorkerHandle, type PayloadTypes } from './worker/mediasoup-worker.ts'

/** Live views by WebRTC: a stream is fed to the worker while somebody watches. */
export interface WebRtc {
  readonly settings: WebRtcSettings
  /** Whether its pictures are shown in the order in which they are coded, as far as is known. */
  carries(stream: Stream): boolean
  /**
   * Answers an SDP offer with the stream, and with the sound if the viewer wants it. Throws EyrieError that says why there
   * is no picture this way.
   */
  open(stream: Stream, sound: Sound | undefined, sdp: string): Promise<WhepSession>
  /** Throws EyrieError `id`. */
  session(id: string): WhepSession
  health(): WebRtcHealth
  stop(): Promise<void>
}

export interface WebRtcOptions {
  settings: WebRtcSettings
  /** Address that media itself listens on. */
  host: string
  executables: readonly string[]
  clock: Clock
  random: () => number
  log: Log
}

const B_FRAMES =
  'the stream has B-frames, which WebRTC cannot carry: watch it as fragmented MP4, or set the camera to H.264 baseline'

export function createWebRtc({ settings, host, ...options }: WebRtcOptions): WebRtc {
  const { announced, ports } = settings
  const worker = createWorkerHandle({ ...options, listen: listenAddresses(settings.listen, host), ports })
  const sessions = new Map<string, WhepSession>()
  const reordering = createReordering()
  const feeds = createSharedFeeds(reordering.remember)

  return {
    settings,
    carries: stream => !reordering.has(stream),

    async open(stream, sound, sdp) {
      if (!settings.enabled) throw new EyrieError('unavailable', 'WebRTC is switched off in eyrie.json')
      const offer = readOffer(sdp)
      const track = stream.track()
      if (!track) throw new EyrieError('unavailable', 'the stream has not begun yet')
      const format = chooseH264(offer.h264, track.avcC)
      if (reordering.has(stream)) throw new EyrieError('type', B_FRAMES, { status: 406 })
      const wanted = offer.sound && sound && (await sound.known()) ? offer.sound.opus : undefined
      const payloadTypes = payloadTypesOf(format, offer.sound?.opus)
      const running = await worker.running()
      const shared = feeds.join(running, stream, payloadTypes)
      let joined: JoinedSound | undefined
      const leave = () => {
        joined?.leave()
        shared.leave()
      }
      try {
        const feed = await shared.feed
        if (wanted) joined = await feed.joinSound(sound!)
        const session = await openWhepSession({
          ...{ worker: running, feed, offer, format, payloadTypes, announced, clock: options.clock },
          sound: joined && wanted && { ...joined, opus: wanted },
          onClosed(session) {
            sessions.delete(session.id)
            leave()
          },
        })
        sessions.set(session.id, session)
        return session
      } catch (cause) {
        leave()
        throw new EyrieError('unavailable', `the connection cannot be made: ${(cause as Error).message}`, {
          cause,
        })
      }
    },

    session(id) {
      const session = sessions.get(id)
      if (!session)
        throw new EyrieError('id', 'this WebRTC session is not, or no longer, there: POST a new offer')
      return session
    },

    health: () =>
      settings.enabled ? { ...worker.health(), viewers: sessions.size } : { state: 'off', viewers: 0 },

    stop: worker.stop,
  }
}

/** As all browsers of a kind call it: who hears nothing shares a feed with who hears. */
const USUAL_OPUS = 111

function payloadTypesOf(format: OfferedH264, offered: OfferedOpus | undefined): PayloadTypes {
  const others = [offered?.payloadType, USUAL_OPUS, USUAL_OPUS + 1]
  return {
    h264: format.payloadType,
    opus: others.find(type => type !== undefined && type !== format.payloadType)!,
  }
}
