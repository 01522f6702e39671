import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Sound } from '../../sound/sound.ts'
import { createOpusPacketizer, OPUS_RATE } from '../rtp/opus-packetizer.ts'
import { createSenderReports, type TimedStream } from '../rtp/sender-reports.ts'
import { opus } from '../worker/mediasoup-worker.ts'

/** A source's sound beside its picture on its way into the worker, as long as somebody on the feed wants it. */
export interface SoundFeed {
  /** A viewer wants the sound: it is there when this resolves. To be left in the end. */
  join(): Promise<JoinedSound>
  /** A picture of this time has been sent, when it came or as one of a group that was under way. */
  pictureSent(pts: number, late: boolean): void
}

export interface JoinedSound {
  producerId: string
  leave(): void
}

export interface SoundFeedOptions {
  transport: types.DirectTransport
  sound: Sound
  payloadType: number
  /** The stream of the pictures. */
  picture: TimedStream
}

const REPORT_MS = 200
/**
 * mediasoup tells viewers by the median of so many reports, and by one behind a stream's first packet. Until it has them it tells by
 * when packets come, or by how late a few of them were: they are sent soon.
 */
const FIRST_REPORTS = 7
const SOON_MS = 20

export function createSoundFeed({ transport, sound, payloadType, picture }: SoundFeedOptions): SoundFeed {
  let producing: Promise<types.Producer> | undefined
  let listeners = 0
  let reports = createSenderReports()
  let reportedAt = 0
  let owed = 0
  let pictured = false
  let streams: TimedStream[] = [picture]

  async function produce(): Promise<types.Producer> {
    const ssrc = randomInt(1, 2 ** 32)
    const producer = await transport.produce({
      kind: opus.kind,
      rtpParameters: { codecs: [{ ...opus, payloadType, rtcpFeedback: [] }], encodings: [{ ssrc }] },
    })
    const packetiser = createOpusPacketizer({ payloadType, ssrc })
    reports = createSenderReports()
    owed = FIRST_REPORTS
    pictured = false
    streams = [picture, { ssrc, rate: OPUS_RATE }]
    const leave = sound.listenToOpus({
      begin() {},
      unit(unit) {
        const packet = packetiser.packet(unit)
        if (!packet || producer.closed) return
        producer.send(packet)
        reports.sent(unit.pts, nowMs())
        report()
      },
    })
    producer.observer.once('close', leave)
    return producer
  }

  function report() {
    const now = nowMs()
    if (now - reportedAt < (owed > 0 ? SOON_MS : REPORT_MS) || transport.closed) return
    const compound = reports.about(streams, now)
    if (!compound) return
    reportedAt = now
    owed = Math.max(0, owed - 1)
    transport.sendRtcp(compound)
  }

  function end() {
    const ending = producing
    producing = undefined
    ending?.then(
      producer => producer.close(),
      () => {},
    )
  }

  return {
    async join() {
      listeners++
      let here = true
      const leave = () => {
        if (here && --listeners === 0) end()
        here = false
      }
      try {
        producing ??= produce()
        const { id } = await producing
        return { producerId: id, leave }
      } catch (error) {
        leave()
        throw error
      }
    },
    pictureSent(pts, late) {
      if (listeners === 0) return
      if (!late) reports.sent(pts, nowMs())
      if (!pictured) owed++
      pictured = true
      report()
    },
  }
}

const nowMs = () => performance.timeOrigin + performance.now()
