import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Sound } from '../sound/sound.ts'
import { createOpusPacketiser, OPUS_RATE } from './opus-packets.ts'
import { createSenderReports, type TimedStream } from './sender-reports.ts'
import { opus } from './worker.ts'

/** A source's sound beside its picture on its way into the worker, as long as somebody on the feed wants it. */
export interface SoundFeed {
  /** A viewer wants the sound: it is there when this resolves. To be left in the end. */
  join(): Promise<JoinedSound>
  /** A picture of this time has been sent. */
  pictureSent(pts: number): void
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

/** mediasoup needs three reports before it can tell by them. */
const REPORT_MS = 200

export function createSoundFeed({ transport, sound, payloadType, picture }: SoundFeedOptions): SoundFeed {
  let producing: Promise<types.Producer> | undefined
  let listeners = 0
  let reports = createSenderReports()
  let reportedAt = 0
  let streams: TimedStream[] = [picture]

  async function produce(): Promise<types.Producer> {
    const ssrc = randomInt(1, 2 ** 32)
    const producer = await transport.produce({
      kind: opus.kind,
      rtpParameters: { codecs: [{ ...opus, payloadType, rtcpFeedback: [] }], encodings: [{ ssrc }] },
    })
    const packetiser = createOpusPacketiser({ payloadType, ssrc })
    reports = createSenderReports()
    // What is sent at once is a group of pictures that is late.
    reportedAt = nowMs()
    streams = [picture, { ssrc, rate: OPUS_RATE }]
    const leave = sound.listenToOpus({
      begin() {},
      unit(unit) {
        const packet = packetiser.packet(unit)
        if (!packet || producer.closed) return
        producer.send(packet)
        sent(unit.pts)
      },
    })
    producer.observer.once('close', leave)
    return producer
  }

  function sent(pts: number) {
    const now = nowMs()
    reports.sent(pts, now)
    if (now - reportedAt < REPORT_MS || transport.closed) return
    reportedAt = now
    transport.sendRtcp(reports.about(streams, now)!)
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
    pictureSent(pts) {
      if (listeners > 0) sent(pts)
    },
  }
}

const nowMs = () => performance.timeOrigin + performance.now()
