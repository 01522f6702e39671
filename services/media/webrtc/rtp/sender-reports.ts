import { toRtpTimestamp } from './rtp-packet.ts'

/**
 * An RTP stream to report on. Its timestamps are stream time, counted at the clock rate of the
 * stream.
 */
export interface RtpStream {
  ssrc: number
  /** Ticks per second of its RTP clock. */
  clockRate: number
}

/**
 * Builds RTCP sender reports (RFC 3550, 6.4.1), which map RTP timestamps to wall-clock time.
 * Receivers need them for lip sync: sound arrives later than the picture with the same `pts`, by
 * the delay of the sound encoder.
 */
export interface SenderReports {
  /** Must be called when a packet with this stream time is sent. */
  observe(pts: number, nowMs: number): void
  /**
   * Returns an RTCP packet with a report for each stream; undefined before the first packet was
   * sent.
   */
  build(streams: readonly RtpStream[], nowMs: number): Buffer | undefined
}

/** RTCP packet type. */
const SENDER_REPORT = 200
const VERSION_2 = 0x80
const REPORT_BYTES = 28
const TICKS_PER_MS = 90
/**
 * Maximum correction of the reported mapping, per elapsed time. A receiver may get the mappings of
 * video and sound seconds apart, so a fast change between the two would break the lip sync.
 */
const MAX_DRIFT = 0.001
/** A larger deviation is a jump in stream time, after which the mapping is determined anew. */
const JUMP_MS = 2_000
/**
 * Reported times are shifted into the past by this offset. If the first packet is late, all later
 * packets appear to be from the future; mediasoup would replace such times with arrival times,
 * for one stream only.
 */
const PAST_OFFSET_MS = 500
/** Seconds from the NTP epoch (1900) to the Unix epoch (1970). */
const NTP_EPOCH_OFFSET_S = 2_208_988_800

export function createSenderReports(): SenderReports {
  /** Wall-clock time at stream time 0, determined from the packets with the smallest delay. */
  let earliestOriginMs = 0
  /**
   * Wall-clock time at stream time 0 as reported to receivers. Once reported, it follows
   * `earliestOriginMs` slowly.
   */
  let reportedOriginMs: number | undefined
  let observedAtMs = 0
  /** Whether `reportedOriginMs` was sent to receivers, so that it must no longer jump. */
  let hasReported = false

  function isJump(originMs: number): boolean {
    return reportedOriginMs === undefined || Math.abs(originMs - reportedOriginMs) > JUMP_MS
  }

  /** Adopts the earliest origin at once before the first report, and slowly afterwards. */
  function updateReportedOrigin(maxDriftMs: number) {
    if (reportedOriginMs === undefined || !hasReported) {
      reportedOriginMs = earliestOriginMs
      return
    }
    const deviationMs = earliestOriginMs - reportedOriginMs
    reportedOriginMs += clamp(deviationMs, -maxDriftMs, maxDriftMs)
  }

  return {
    observe(pts, nowMs) {
      const originMs = nowMs - pts / TICKS_PER_MS
      const maxDriftMs = (nowMs - observedAtMs) * MAX_DRIFT
      observedAtMs = nowMs

      if (isJump(originMs)) {
        earliestOriginMs = originMs
        hasReported = false
      }
      // A packet with a smaller delay counts at once. A greater delay counts slowly, because a
      // single packet may be late.
      earliestOriginMs = Math.min(originMs, earliestOriginMs + maxDriftMs)
      updateReportedOrigin(maxDriftMs)
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

function clamp(number: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, number))
}

/**
 * Creates a report without packet and byte counts, because mediasoup writes its own
 * reports for viewers.
 */
function createReport(ssrc: number, ticks: number, nowMs: number): Buffer {
  const report = Buffer.alloc(REPORT_BYTES)
  report[0] = VERSION_2
  report[1] = SENDER_REPORT
  report.writeUInt16BE(REPORT_BYTES / 4 - 1, 2)
  report.writeUInt32BE(ssrc, 4)

  const seconds = nowMs / 1000 + NTP_EPOCH_OFFSET_S
  report.writeUInt32BE(Math.floor(seconds) % 2 ** 32, 8)
  report.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 12)
  report.writeUInt32BE(toRtpTimestamp(ticks), 16)
  return report
}
