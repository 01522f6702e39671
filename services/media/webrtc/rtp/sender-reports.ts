import { toRtpTimestamp } from './rtp-packet.ts'

/** An RTP stream whose timestamps are stream time. */
export interface RtpStream {
  ssrc: number
  /** Ticks per second of its RTP clock. */
  clockRate: number
}

/**
 * RTCP sender reports (RFC 3550, 6.4.1), which map RTP timestamps to wall-clock time. Video and sound of a source share one
 * stream time, but sound arrives later by the delay of its encoder. Receivers that relied on arrival times would play them apart;
 * with these reports, pictures and sound with the same `pts` are played together.
 */
export interface SenderReports {
  /** Must be called for each packet sent. */
  observe(pts: number, nowMs: number): void
  /** Returns a compound packet with a report for each stream; undefined before the first packet. */
  build(streams: readonly RtpStream[], nowMs: number): Buffer | undefined
}

const SENDER_REPORT = 200
const VERSION_2 = 0x80
const REPORT_BYTES = 28
const TICKS_PER_MS = 90
/**
 * Fastest correction of the reported mapping, per elapsed time, while it follows a source's clock. A receiver learns the mappings
 * of two streams seconds apart; a faster change between them would shift the streams against each other.
 */
const MAX_DRIFT = 0.001
/** A larger deviation is a jump in the stream's time: the mapping starts again. */
const JUMP_MS = 2_000
/**
 * Offset by which all reported times are in the past. mediasoup replaces a time in the future (a late first packet makes all
 * later ones appear early) with the packet's arrival time, for that stream only.
 */
const PAST_OFFSET_MS = 500
/** Seconds from the NTP epoch (1900) to 1970. */
const NTP_EPOCH_OFFSET_S = 2_208_988_800

export function createSenderReports(): SenderReports {
  /** Wall-clock time of stream time 0 in ms, according to the packets with the least delay. */
  let earliestOriginMs = 0
  /** The same as reported to receivers; follows `earliestOriginMs` at a limited rate once it has been reported. */
  let reportedOriginMs: number | undefined
  let observedAtMs = 0
  let hasReported = false

  return {
    observe(pts, nowMs) {
      const originMs = nowMs - pts / TICKS_PER_MS
      const maxDriftMs = (nowMs - observedAtMs) * MAX_DRIFT
      if (reportedOriginMs === undefined || Math.abs(originMs - reportedOriginMs) > JUMP_MS) {
        earliestOriginMs = originMs
        hasReported = false
      }
      earliestOriginMs = Math.min(originMs, earliestOriginMs + maxDriftMs)
      const previousMs = reportedOriginMs ?? earliestOriginMs
      const correctionMs = Math.max(-maxDriftMs, Math.min(maxDriftMs, earliestOriginMs - previousMs))
      reportedOriginMs = hasReported ? previousMs + correctionMs : earliestOriginMs
      observedAtMs = nowMs
    },

    build(streams, nowMs) {
      if (reportedOriginMs === undefined) return undefined
      hasReported = true
      const seconds = (nowMs + PAST_OFFSET_MS - reportedOriginMs) / 1000
      const reports = streams.map(({ ssrc, clockRate }) =>
        createReport(ssrc, Math.round(seconds * clockRate), nowMs),
      )
      return Buffer.concat(reports)
    },
  }
}

/** The packet and byte counts stay 0: mediasoup writes its own reports for viewers. */
function createReport(ssrc: number, ticks: number, nowMs: number): Buffer {
  const bytes = Buffer.alloc(REPORT_BYTES)
  bytes[0] = VERSION_2
  bytes[1] = SENDER_REPORT
  bytes.writeUInt16BE(REPORT_BYTES / 4 - 1, 2)
  bytes.writeUInt32BE(ssrc, 4)
  const seconds = nowMs / 1000 + NTP_EPOCH_OFFSET_S
  bytes.writeUInt32BE(Math.floor(seconds) % 2 ** 32, 8)
  bytes.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 12)
  bytes.writeUInt32BE(toRtpTimestamp(ticks), 16)
  return bytes
}
