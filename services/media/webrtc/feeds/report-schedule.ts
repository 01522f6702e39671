import type { types } from 'mediasoup'
import { createSenderReports, type RtpStream } from '../rtp/sender-reports.ts'

/** Sends sender reports on RTP streams at regular intervals, while their packets are sent. */
export interface ReportSchedule {
  /** Starts anew, as for a new receiver, with reports on these streams. */
  restart(streams: readonly RtpStream[]): void
  /** Must be called when a packet with this stream time is sent. */
  observe(pts: number): void
  /** Sends one more report at the shorter interval. */
  addInitialReport(): void
  /** Sends a report if the interval since the last one has passed. */
  sendIfDue(): void
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

export function createReportSchedule(
  transport: types.DirectTransport,
  initialStreams: readonly RtpStream[],
): ReportSchedule {
  let streams = initialStreams
  let reports = createSenderReports()
  let reportedAtMs = 0
  /** Number of reports that remain to be sent at the shorter interval. */
  let initialReportsLeft = 0

  return {
    restart(newStreams) {
      streams = newStreams
      reports = createSenderReports()
      initialReportsLeft = INITIAL_REPORTS
    },
    observe(pts) {
      reports.observe(pts, getNowMs())
    },
    addInitialReport() {
      initialReportsLeft += 1
    },
    sendIfDue() {
      const nowMs = getNowMs()
      const intervalMs = initialReportsLeft > 0 ? INITIAL_REPORT_INTERVAL_MS : REPORT_INTERVAL_MS
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
