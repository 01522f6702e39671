import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/source-sound.ts'
import {
  createOpusPacketizer,
  OPUS_CLOCK_RATE,
  type OpusPacketizer,
} from '../rtp/opus-packetizer.ts'
import type { RtpIdentity } from '../rtp/rtp-packet.ts'
import type { RtpStream } from '../rtp/sender-reports.ts'
import { OPUS_CODEC } from '../worker/mediasoup-worker.ts'
import { createReportSchedule } from './report-schedule.ts'

/**
 * Sends a source's sound to the WebRTC worker while at least one viewer of the feed listens. Its
 * sender reports synchronize the sound with the video of the same feed.
 */
export interface SoundFeed {
  /** Starts sending sound if necessary. Resolves once viewers can consume it. */
  acquire(): Promise<SoundLease>
  /** Must be called for each picture sent. */
  onPictureSent(picture: SentPicture): void
}

export interface SentPicture {
  /** Stream time in 90 kHz ticks. */
  pts: number
  /** Whether the picture arrived earlier and was buffered until now. */
  isBuffered: boolean
}

/** A viewer's share of the sound. The producer closes when its last lease is released. */
export interface SoundLease {
  producerId: string
  release(): void
}

export interface SoundFeedOptions {
  transport: types.DirectTransport
  sound: Sound
  /** RTP payload type of Opus. */
  payloadType: number
  /** The video of the same feed. */
  video: RtpStream
}

/** The sending of the sound. It exists while there are leases. */
interface Production {
  /** mediasoup's end of the sound. */
  producer: Promise<types.Producer>
  leaseCount: number
}

export function createSoundFeed(options: SoundFeedOptions): SoundFeed {
  const { transport, sound, payloadType, video } = options
  const reports = createReportSchedule(transport, [video])
  let production: Production | undefined

  async function startProducer(): Promise<types.Producer> {
    const ssrc = randomInt(1, 2 ** 32)
    const producer = await createProducer(transport, { payloadType, ssrc })
    reports.begin([video, { ssrc, clockRate: OPUS_CLOCK_RATE }])
    sendSound(producer, createOpusPacketizer({ payloadType, ssrc }))
    return producer
  }

  /** Sends the sound of the source until the producer is closed. */
  function sendSound(producer: types.Producer, packetizer: OpusPacketizer): void {
    const stopListening = sound.listenToOpus({
      // Opus packets describe their own format.
      begin() {},
      unit(unit) {
        const packet = packetizer.packetize(unit)
        if (!packet || producer.closed) return
        producer.send(packet)
        reports.observe(unit.pts)
        reports.sendIfDue()
      },
    })
    producer.observer.once('close', stopListening)
  }

  /** Ends one lease, and closes the producer after the last one. */
  function endLease(leased: Production): void {
    leased.leaseCount--
    if (leased.leaseCount > 0) return
    production = undefined
    void closeWhenCreated(leased.producer)
  }

  return {
    async acquire() {
      production ??= { producer: startProducer(), leaseCount: 0 }
      const leased = production
      leased.leaseCount++
      try {
        const { id } = await leased.producer
        let isReleased = false
        return {
          producerId: id,
          release() {
            if (!isReleased) endLease(leased)
            isReleased = true
          },
        }
      } catch (error) {
        endLease(leased)
        throw error
      }
    },

    onPictureSent({ pts, isBuffered }) {
      if (!production) return
      // The time at which a buffered picture is sent says nothing about its time of capture.
      if (!isBuffered) reports.observe(pts)
      reports.onPictureSent()
      reports.sendIfDue()
    },
  }
}

function createProducer(
  transport: types.DirectTransport,
  { payloadType, ssrc }: RtpIdentity,
): Promise<types.Producer> {
  return transport.produce({
    kind: OPUS_CODEC.kind,
    rtpParameters: {
      codecs: [{ ...OPUS_CODEC, payloadType, rtcpFeedback: [] }],
      encodings: [{ ssrc }],
    },
  })
}

/**
 * Closes a producer once its creation has finished. If the creation fails, `acquire` reports it.
 */
async function closeWhenCreated(creation: Promise<types.Producer>): Promise<void> {
  const producer = await creation.catch(() => undefined)
  producer?.close()
}
