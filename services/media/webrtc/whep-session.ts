import { randomUUID } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Clock } from '../runtime/clock.ts'
import type { SoundLease } from './feeds/sound-feed.ts'
import type { StreamFeed } from './feeds/stream-feed.ts'
import { toReachableCandidates } from './ice-addresses.ts'
import { type SentStreams, writeAnswer, writeIceFragment } from './sdp/sdp-answer.ts'
import type { Offer, OfferedFormat, OfferedH264 } from './sdp/sdp-offer.ts'
import {
  H264_CODEC,
  OPUS_CODEC,
  type PayloadTypes,
  type WebRtcWorker,
} from './worker/mediasoup-worker.ts'

/** The WebRTC connection of one viewer, which was set up over HTTP (WHEP). */
export interface WhepSession {
  readonly id: string
  /** The SDP answer. */
  readonly answer: string
  /** Entity tag of the session, which changes with every ICE restart. */
  etag(): string
  /**
   * Returns whether this ICE username differs from the viewer's current one: if so, the viewer
   * requests an ICE restart.
   */
  isRestart(iceUsername: string): boolean
  /** Creates new ICE credentials for the server and returns them as an SDP fragment. */
  restartIce(iceUsername: string): Promise<string>
  /** Starts the lease again. Has no effect on a session without a lease. */
  renew(): void
  close(): void
}

export interface WhepSessionOptions {
  worker: WebRtcWorker
  feed: StreamFeed
  offer: Offer
  format: OfferedH264
  payloadTypes: PayloadTypes
  /** Undefined if the viewer offers no audio or the source has none. */
  sound?: { lease: SoundLease; format: OfferedFormat } | undefined
  /** Addresses to send to the viewer instead of the worker's own. */
  announced: readonly string[]
  /** The session ends if it is not renewed for this time; undefined: it need not be renewed. */
  leaseMs: number | undefined
  clock: Clock
  /** Called once, when the viewer has left or its connection has failed. */
  onClosed(session: WhepSession): void
}

/** Time within which the viewer must complete the DTLS handshake. */
const CONNECT_TIMEOUT_MS = 20_000
/** Time without ICE consent (RFC 7675) after which a viewer counts as disconnected. */
const CONSENT_TIMEOUT_S = 15

/**
 * Creates a transport that sends the feed to the viewer. Rejects if the worker or the
 * feed ends meanwhile.
 */
export async function openWhepSession(options: WhepSessionOptions): Promise<WhepSession> {
  const { worker, feed, offer, format, sound } = options
  const transport = await feed.router.createWebRtcTransport({
    webRtcServer: worker.server,
    preferUdp: true,
    iceConsentTimeout: CONSENT_TIMEOUT_S,
  })

  try {
    await transport.connect({
      dtlsParameters: { role: 'client', fingerprints: [offer.fingerprint] },
    })

    const rtpCapabilities = createRtpCapabilities(options.payloadTypes)
    const video = await transport.consume({ producerId: feed.producerId, rtpCapabilities })
    const audio =
      sound && (await transport.consume({ producerId: sound.lease.producerId, rtpCapabilities }))
    if (transport.closed) throw new Error('the stream has ended')

    return createSession(transport, options, {
      video: { format, ssrc: getSsrc(video) },
      audio: audio && { format: sound.format, ssrc: getSsrc(audio) },
      cname: video.rtpParameters.rtcp!.cname!,
    })
  } catch (error) {
    transport.close()
    throw error
  }
}

function createSession(
  transport: types.WebRtcTransport,
  { offer, feed, announced, leaseMs, clock, onClosed }: WhepSessionOptions,
  sent: SentStreams,
): WhepSession {
  let currentUsername = offer.iceUsername

  /** Closes the session after this time, unless the returned controller is aborted before. */
  function closeAfter(ms: number): AbortController {
    const cancelling = new AbortController()
    clock.sleep(ms, cancelling.signal).then(
      () => transport.close(),
      () => {},
    )
    return cancelling
  }

  const connecting = closeAfter(CONNECT_TIMEOUT_MS)
  let lease = leaseMs === undefined ? undefined : closeAfter(leaseMs)

  transport.on('dtlsstatechange', state => {
    if (state === 'connected') {
      connecting.abort()
      feed.start()
    }
    if (state === 'failed' || state === 'closed') transport.close()
  })
  transport.on('icestatechange', state => {
    if (state === 'disconnected') transport.close()
  })

  const getCandidates = () => toReachableCandidates(transport.iceCandidates, announced)
  const endpoint = {
    ice: transport.iceParameters,
    candidates: getCandidates(),
    fingerprints: transport.dtlsParameters.fingerprints,
  }
  const session: WhepSession = {
    id: randomUUID(),
    answer: writeAnswer(offer, endpoint, sent),
    etag: () => `"${transport.iceParameters.usernameFragment}"`,
    isRestart: iceUsername => iceUsername !== currentUsername,
    async restartIce(iceUsername) {
      const ice = await transport.restartIce()
      currentUsername = iceUsername
      return writeIceFragment(offer, { ice, candidates: getCandidates() }, sent)
    },
    renew() {
      if (leaseMs === undefined) return
      lease?.abort()
      lease = closeAfter(leaseMs)
    },
    close: () => transport.close(),
  }

  transport.observer.once('close', () => {
    connecting.abort()
    lease?.abort()
    onClosed(session)
  })
  return session
}

function getSsrc({ rtpParameters }: types.Consumer): number {
  return rtpParameters.encodings![0]!.ssrc!
}

function createRtpCapabilities(payloadTypes: PayloadTypes): types.RtpCapabilities {
  const rtcpFeedback = [
    { type: 'nack' },
    { type: 'nack', parameter: 'pli' },
    { type: 'ccm', parameter: 'fir' },
  ]
  return {
    codecs: [
      { ...H264_CODEC, preferredPayloadType: payloadTypes.h264, rtcpFeedback },
      { ...OPUS_CODEC, preferredPayloadType: payloadTypes.opus, rtcpFeedback: [] },
    ],
    headerExtensions: [],
  }
}
