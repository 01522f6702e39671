import { randomUUID } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Clock } from '../runtime/clock.ts'
import type { JoinedSound } from './feeds/sound-feed.ts'
import type { StreamFeed } from './feeds/stream-feed.ts'
import { toReachableCandidates } from './ice-addresses.ts'
import { type Sent, writeAnswer, writeIceFragment } from './sdp/sdp-answer.ts'
import type { Offer, OfferedH264, OfferedOpus } from './sdp/sdp-offer.ts'
import { h264, opus, type PayloadTypes, type RunningWorker } from './worker/mediasoup-worker.ts'

/** One viewer's connection. */
export interface WhepSession {
  readonly id: string
  readonly answer: string
  /** Changes with every ICE restart. */
  etag(): string
  /** Whether these are other credentials than the viewer's present ones: he wants an ICE restart. */
  isRestart(iceUsername: string): boolean
  /** New credentials for the same connection, as an SDP fragment. */
  restartIce(iceUsername: string): Promise<string>
  close(): void
}

export interface SessionOptions {
  worker: RunningWorker
  feed: StreamFeed
  offer: Offer
  format: OfferedH264
  payloadTypes: PayloadTypes
  /** Which the viewer wants and the source has. */
  sound?: (JoinedSound & { opus: OfferedOpus }) | undefined
  announced: readonly string[]
  clock: Clock
  /** The viewer has left or has not been heard of any more. Told once. */
  onClosed(session: WhepSession): void
}

/** A viewer who has not connected after this, or who has not been heard of for so long, is gone. */
const CONNECTING_MS = 20_000
const CONSENT_S = 15

export async function openWhepSession(options: SessionOptions): Promise<WhepSession> {
  const { worker, feed, offer, format, sound, announced, clock } = options
  const transport = await feed.router.createWebRtcTransport({
    webRtcServer: worker.server,
    preferUdp: true,
    iceConsentTimeout: CONSENT_S,
  })
  try {
    await transport.connect({ dtlsParameters: { role: 'client', fingerprints: [offer.fingerprint] } })
    const rtpCapabilities = capabilities(options.payloadTypes)
    const picture = await transport.consume({ producerId: feed.producerId, rtpCapabilities })
    const heard = sound && (await transport.consume({ producerId: sound.producerId, rtpCapabilities }))
    if (transport.closed) throw new Error('the stream has ended')
    return sessionOf(transport, {
      format,
      ssrc: ssrcOf(picture),
      cname: picture.rtpParameters.rtcp!.cname!,
      sound: sound && heard && { opus: sound.opus, ssrc: ssrcOf(heard) },
    })
  } catch (error) {
    transport.close()
    throw error
  }

  function sessionOf(transport: types.WebRtcTransport, sent: Sent): WhepSession {
    let iceUsername = offer.iceUsername
    const connecting = new AbortController()
    clock.sleep(CONNECTING_MS, connecting.signal).then(
      () => transport.close(),
      () => {},
    )
    transport.on('dtlsstatechange', state => {
      if (state === 'connected') {
        connecting.abort()
        feed.begin()
      }
      if (state === 'failed' || state === 'closed') transport.close()
    })
    transport.on('icestatechange', state => {
      if (state === 'disconnected') transport.close()
    })
    const candidates = () => toReachableCandidates(transport.iceCandidates, announced)
    const session: WhepSession = {
      id: randomUUID(),
      answer: writeAnswer(
        offer,
        {
          ice: transport.iceParameters,
          candidates: candidates(),
          fingerprints: transport.dtlsParameters.fingerprints,
        },
        sent,
      ),
      etag: () => `"${transport.iceParameters.usernameFragment}"`,
      isRestart: username => username !== iceUsername,
      async restartIce(username) {
        const ice = await transport.restartIce()
        iceUsername = username
        return writeIceFragment(offer, { ice, candidates: candidates() }, sent)
      },
      close: () => transport.close(),
    }
    transport.observer.once('close', () => {
      connecting.abort()
      options.onClosed(session)
    })
    return session
  }
}

const ssrcOf = ({ rtpParameters }: types.Consumer) => rtpParameters.encodings![0]!.ssrc!

function capabilities(payloadTypes: PayloadTypes): types.RtpCapabilities {
  const rtcpFeedback = [
    { type: 'nack' },
    { type: 'nack', parameter: 'pli' },
    { type: 'ccm', parameter: 'fir' },
  ]
  return {
    codecs: [
      { ...h264, preferredPayloadType: payloadTypes.h264, rtcpFeedback },
      { ...opus, preferredPayloadType: payloadTypes.opus, rtcpFeedback: [] },
    ],
    headerExtensions: [],
  }
}
