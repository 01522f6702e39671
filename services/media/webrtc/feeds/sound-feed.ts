import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/source-sound.ts'
import { createOpusPacketizer, OPUS_CLOCK_RATE } from '../rtp/opus-packetizer.ts'
import { createSenderReports, type RtpStream } from '../rtp/sender-reports.ts'
import { OPUS_CODEC } from '../worker/mediasoup-worker.ts'

/**
 * Sends a source's sound to the WebRTC worker while at least one viewer of the feed listens. Its
 * sender reports synchronize the sound with the video of the same feed.
 */
export interface SoundFeed {
  /** Starts sending sound if necessary. Resolves once viewers can consume it. */
  acquire(): Promise<SoundLease>
  /**
   * Must be called for each picture sent. `isCached` is true for a buffered picture, which has
   * arrived some time ago.
   */
  onPictureSent(pts: number, isCached: boolean): void
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

/** Time between two sender reports. */
const REPORT_INTERVAL_MS = 200
/**
 * Number of reports that are sent at the shorter interval. mediasoup maps RTP timestamps to
 * wall-clock time by the median of this many sender reports, and until then by arrival times,
 * which are inaccurate.
 */
const INITIAL_REPORTS = 7
const INITIAL_REPORT_INTERVAL_MS = 20

export function createSoundFeed({
  transport,
  sound,
  payloadType,
  video,
}: SoundFeedOptions): SoundFeed {
  /** The producer, mediasoup's end of the sound. It exists while there are leases. */
  let producing: Promise<types.Producer> | undefined
  let leaseCount = 0
  let reports = createSenderReports()
  let reportedAtMs = 0
  /** Number of reports that remain to be sent at the shorter interval. */
  let initialReportsLeft = 0
  /** Whether a picture was sent since the producer was created. */
  let hasSentPicture = false
  /** The RTP streams to report on. */
  let streams: RtpStream[] = [video]

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

    reports = createSenderReports()
    initialReportsLeft = INITIAL_REPORTS
    hasSentPicture = false
    streams = [video, { ssrc, clockRate: OPUS_CLOCK_RATE }]

    const stopListening = sound.listenToOpus({
      begin() {},
      unit(unit) {
        const packet = packetizer.packetize(unit)
        if (!packet || producer.closed) return
        producer.send(packet)
        reports.observe(unit.pts, getNowMs())
        sendReportIfDue()
      },
    })
    producer.observer.once('close', stopListening)
    return producer
  }

  function sendReportIfDue() {
    const nowMs = getNowMs()
    const intervalMs = initialReportsLeft > 0 ? INITIAL_REPORT_INTERVAL_MS : REPORT_INTERVAL_MS
    if (nowMs - reportedAtMs < intervalMs || transport.closed) return

    const rtcpPacket = reports.build(streams, nowMs)
    if (!rtcpPacket) return

    reportedAtMs = nowMs
    initialReportsLeft = Math.max(0, initialReportsLeft - 1)
    transport.sendRtcp(rtcpPacket)
  }

  function release() {
    leaseCount--
    if (leaseCount > 0) return
    void closeProducer(producing)
    producing = undefined
  }

  async function closeProducer(pending: Promise<types.Producer> | undefined) {
    const producer = await pending?.catch(() => undefined)
    producer?.close()
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
            if (!isReleased) release()
            isReleased = true
          },
        }
      } catch (error) {
        release()
        throw error
      }
    },
    onPictureSent(pts, isCached) {
      if (leaseCount === 0) return
      if (!isCached) reports.observe(pts, getNowMs())
      // mediasoup needs one more report after the first packet of the video.
      if (!hasSentPicture) initialReportsLeft++
      hasSentPicture = true
      sendReportIfDue()
    },
  }
}

/** Returns the wall clock in ms since 1970. It does not jump while the process runs. */
const getNowMs = () => performance.timeOrigin + performance.now()
