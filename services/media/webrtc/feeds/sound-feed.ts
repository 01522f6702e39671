import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/source-sound.ts'
import { createOpusPacketizer, OPUS_CLOCK_RATE } from '../rtp/opus-packetizer.ts'
import { createSenderReports, type RtpStream } from '../rtp/sender-reports.ts'
import { opusCodec } from '../worker/mediasoup-worker.ts'

/** Sends a source's sound to the worker, together with its video, while a viewer of the feed listens. */
export interface SoundFeed {
  /** Resolves when the sound has a producer. */
  acquire(): Promise<SoundLease>
  /** Must be called for each picture sent; `isCached` is true for units of a GOP that had already begun. */
  onPictureSent(pts: number, isCached: boolean): void
}

/** A viewer's use of the sound. The producer closes with its last lease. */
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

const REPORT_INTERVAL_MS = 200
/**
 * mediasoup derives the clock mapping that it sends to viewers from the median of this many sender reports, plus one after a
 * stream's first packet. Until then it estimates the mapping from arrival times, so the first reports follow quickly.
 */
const INITIAL_REPORTS = 7
const INITIAL_REPORT_INTERVAL_MS = 20

export function createSoundFeed({ transport, sound, payloadType, video }: SoundFeedOptions): SoundFeed {
  let producing: Promise<types.Producer> | undefined
  let leases = 0
  let reports = createSenderReports()
  let reportedAt = 0
  /** Reports still to be sent at the shorter interval. */
  let initialReports = 0
  let hasSentPicture = false
  let streams: RtpStream[] = [video]

  async function produce(): Promise<types.Producer> {
    const ssrc = randomInt(1, 2 ** 32)
    const producer = await transport.produce({
      kind: opusCodec.kind,
      rtpParameters: { codecs: [{ ...opusCodec, payloadType, rtcpFeedback: [] }], encodings: [{ ssrc }] },
    })
    const packetizer = createOpusPacketizer({ payloadType, ssrc })
    reports = createSenderReports()
    initialReports = INITIAL_REPORTS
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
    const intervalMs = initialReports > 0 ? INITIAL_REPORT_INTERVAL_MS : REPORT_INTERVAL_MS
    if (nowMs - reportedAt < intervalMs || transport.closed) return
    const compound = reports.build(streams, nowMs)
    if (!compound) return
    reportedAt = nowMs
    initialReports = Math.max(0, initialReports - 1)
    transport.sendRtcp(compound)
  }

  function release() {
    leases--
    if (leases > 0) return
    const ended = producing
    producing = undefined
    ended?.then(
      producer => producer.close(),
      () => {},
    )
  }

  return {
    async acquire() {
      leases++
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
      if (leases === 0) return
      if (!isCached) reports.observe(pts, getNowMs())
      if (!hasSentPicture) initialReports++
      hasSentPicture = true
      sendReportIfDue()
    },
  }
}

const getNowMs = () => performance.timeOrigin + performance.now()
