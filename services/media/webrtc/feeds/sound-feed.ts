import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/source-sound.ts'
import { createOpusPacketizer, OPUS_CLOCK_RATE } from '../rtp/opus-packetizer.ts'
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
  /** Whether the picture was buffered, so that it has arrived some time before it was sent. */
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
  payloadType: number
  video: RtpStream
}

export function createSoundFeed({
  transport,
  sound,
  payloadType,
  video,
}: SoundFeedOptions): SoundFeed {
  /** The producer, mediasoup's end of the sound. It exists while there are leases. */
  let producing: Promise<types.Producer> | undefined
  let leaseCount = 0
  const reports = createReportSchedule(transport, [video])
  /** Whether a picture was sent since the producer was created. */
  let hasSentPicture = false

  async function produce(): Promise<types.Producer> {
    const ssrc = randomInt(1, 2 ** 32)
    const producer = await transport.produce({
      kind: OPUS_CODEC.kind,
      rtpParameters: {
        codecs: [{ ...OPUS_CODEC, payloadType, rtcpFeedback: [] }],
        encodings: [{ ssrc }],
      },
    })
    const packetizer = createOpusPacketizer({ payloadType, ssrc })

    reports.restart([video, { ssrc, clockRate: OPUS_CLOCK_RATE }])
    hasSentPicture = false

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
    return producer
  }

  /** Ends one lease, and closes the producer after the last one. */
  function endLease() {
    leaseCount--
    if (leaseCount > 0) return
    void closeWhenCreated(producing)
    producing = undefined
  }

  return {
    async acquire() {
      leaseCount++
      try {
        producing ??= produce()
        const { id } = await producing
        let isReleased = false
        return {
          producerId: id,
          release() {
            if (!isReleased) endLease()
            isReleased = true
          },
        }
      } catch (error) {
        endLease()
        throw error
      }
    },
    onPictureSent({ pts, isBuffered }) {
      if (leaseCount === 0) return
      // The time at which a buffered picture is sent says nothing about its time of capture.
      if (!isBuffered) reports.observe(pts)
      // mediasoup needs one more report after the first packet of the video.
      if (!hasSentPicture) reports.addInitialReport()
      hasSentPicture = true
      reports.sendIfDue()
    },
  }
}

/**
 * Closes a producer once its creation has finished. If the creation fails, `acquire` reports it.
 */
async function closeWhenCreated(producing: Promise<types.Producer> | undefined) {
  const producer = await producing?.catch(() => undefined)
  producer?.close()
}
