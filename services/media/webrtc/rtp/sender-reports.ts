import { rtpTimestamp } from './rtp-packet.ts'

/** An RTP stream whose time is that of the source. */
export interface TimedStream {
  ssrc: number
  /** Ticks a second of its clock. */
  rate: number
}

/**
 * Says at which moment each stream is at which timestamp (RFC 3550, 6.4.1). Picture and sound of a source have one time, its
 * `pts`, but not one delay: sound comes later by as much as its encoders take. By when their packets come a receiver would
 * play them apart; by these reports it plays together what has one `pts`.
 */
export interface SenderReports {
  /** A packet of this stream time is sent now. */
  sent(pts: number, nowMs: number): void
  /** One compound packet about these streams; undefined before the first packet. */
  about(streams: readonly TimedStream[], nowMs: number): Buffer | undefined
}

const SENDER_REPORT = 200
const VERSION_2 = 0x80
const REPORT_BYTES = 28
const TICKS_PER_MS = 90
/**
 * A source's clock that runs faster or slower than ours is followed by so much, of what has passed. A receiver learns of its streams
 * one by one, seconds apart: what moved faster would for so long set them apart that belong together.
 */
const MOST_DRIFT = 0.001
/** What is later than this belongs to another time: the stream has leapt. */
const LEAP_MS = 2_000
/**
 * Every moment is told as so much earlier. A packet that came before its moment, since those before it had been held up, or
 * since only sound had come until then, mediasoup takes to be of the moment at which it came: that stream alone.
 */
const EARLIER_MS = 500
const NTP_BEFORE_1970_S = 2_208_988_800

export function createSenderReports(): SenderReports {
  /** The moment of stream time 0: as the promptest packets have it, and as it is told. */
  let promptest = 0
  let origin: number | undefined
  let sentAt = 0
  let told = false

  return {
    sent(pts, nowMs) {
      const own = nowMs - pts / TICKS_PER_MS
      const most = (nowMs - sentAt) * MOST_DRIFT
      if (origin === undefined || Math.abs(own - origin) > LEAP_MS) {
        promptest = own
        told = false
      }
      promptest = Math.min(own, promptest + most)
      const before = origin ?? promptest
      origin = told ? before + Math.max(-most, Math.min(most, promptest - before)) : promptest
      sentAt = nowMs
    },

    about(streams, nowMs) {
      if (origin === undefined) return undefined
      told = true
      const seconds = (nowMs + EARLIER_MS - origin) / 1000
      return Buffer.concat(streams.map(({ ssrc, rate }) => report(ssrc, Math.round(seconds * rate), nowMs)))
    },
  }
}

/** What has been sent is not counted: mediasoup makes reports of its own for viewers. */
function report(ssrc: number, time: number, nowMs: number): Buffer {
  const bytes = Buffer.alloc(REPORT_BYTES)
  bytes[0] = VERSION_2
  bytes[1] = SENDER_REPORT
  bytes.writeUInt16BE(REPORT_BYTES / 4 - 1, 2)
  bytes.writeUInt32BE(ssrc, 4)
  const seconds = nowMs / 1000 + NTP_BEFORE_1970_S
  bytes.writeUInt32BE(Math.floor(seconds) % 2 ** 32, 8)
  bytes.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 12)
  bytes.writeUInt32BE(rtpTimestamp(time), 16)
  return bytes
}
