import type { types } from 'mediasoup'
import { createSenderReports, type RtpStream } from '../rtp/sender-reports.ts'

/**
 * Sends sender reports on RTP streams while their packets are sent: first some initial reports at a
 * short interval, then reports at a longer one.
 */
export interface ReportSchedule {
  /**
   * Reports on these streams from now on, beginning with the initial reports. The times of earlier
   * packets are discarded.
   */
  begin(streams: readonly RtpStream[]): void
  /** Must be called when a packet with this stream time is sent without delay. */
  observe(pts: number): void
  /** Must be called when a picture is sent, with or without delay. */
  onPictureSent(): void
  /** Sends a report if the interval since the last one has passed. */
  sendIfDue(): void
}

/**
 * Number of initial reports. mediasoup maps RTP timestamps to wall-clock time by the median of this
 * many sender reports, and until then by arrival times, which are inaccurate.
 */
const INITIAL_REPORTS = 7
const INITIAL_INTERVAL_MS = 20
/** Time between two reports after the initial ones. */
const REPORT_INTERVAL_MS = 200

export function createReportSchedule(
  transport: types.DirectTransport,
  initialStreams: readonly RtpStream[],
): ReportSchedule {
  let streams = initialStreams
  let reports = createSenderReports()
  let reportedAtMs = 0
  let initialReportsLeft = 0
  /** Whether a picture was sent since `begin`. */
  let hasSentPicture = false

  return {
    begin(newStreams) {
      streams = newStreams
      reports = createSenderReports()
      initialReportsLeft = INITIAL_REPORTS
      hasSentPicture = false
    },

    observe(pts) {
      reports.observe(pts, getNowMs())
    },

    onPictureSent() {
      // mediasoup needs one more report after the first packet of the video.
      if (!hasSentPicture) initialReportsLeft += 1
      hasSentPicture = true
    },

    sendIfDue() {
      const nowMs = getNowMs()
      const intervalMs = initialReportsLeft > 0 ? INITIAL_INTERVAL_MS : REPORT_INTERVAL_MS
      if (nowMs - reportedAtMs < intervalMs || transport.closed) return

      const rtcpPacket = reports.build(streams, nowMs)
      if (!rtcpPacket) return

      reportedAtMs = nowMs
      initialReportsLeft = Math.max(0, initialReportsLeft - 1)
      transport.sendRtcp(rtcpPacket)
    },
  }
}

/** Returns the wall clock in ms since 1970. It does not jump while the process runs. */
const getNowMs = () => performance.timeOrigin + performance.now()
