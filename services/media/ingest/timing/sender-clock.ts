import type { RtpPacket } from '../../node-gst/index.ts'
import type { SenderReport } from './rtp-statistics.ts'

/**
 * Maps the running time of an RTP stream, which starts at 0 with the pipeline, to the clock of the
 * sender, such as a camera. RTCP sender reports map RTP timestamps to the sender's clock, and
 * packets map running times to RTP timestamps. GStreamer adapts the running times of packets to the
 * network delay, so only the newest packet counts.
 */
export interface SenderClock {
  addPacket(packet: RtpPacket): void
  addReport(report: SenderReport): void
  /**
   * Returns the sender's clock, in µs since 1970, at running time 0; undefined before the
   * first packet and report.
   */
  anchorUs(): number | undefined
}

/** Running times have a clock of 90 kHz, unlike the timestamps of the RTP stream. */
const TICKS_PER_US = 0.09
/** A larger deviation of timestamps from running times is no drift: the sender has restarted. */
const MAX_DRIFT_S = 1

export function createSenderClock(): SenderClock {
  let newestPacket: RtpPacket | undefined
  let newestReport: SenderReport | undefined

  return {
    addPacket(packet) {
      // The sender has restarted its timestamps, and the report refers to the old ones.
      if (newestPacket && hasJumped(newestPacket, packet)) newestReport = undefined
      newestPacket = packet
    },

    addReport(report) {
      newestReport = report
    },

    anchorUs() {
      if (!newestReport || !newestPacket) return undefined
      const { timestamp, clockRate, runningTicks } = newestPacket
      const sinceReportUs = (ticksBetween(newestReport.rtp, timestamp) * 1e6) / clockRate
      return newestReport.cameraUs + sinceReportUs - runningTicks / TICKS_PER_US
    },
  }
}

/** Whether the timestamps have not advanced by the same time as the running times. */
function hasJumped(previous: RtpPacket, next: RtpPacket): boolean {
  const passedS = ticksBetween(previous.timestamp, next.timestamp) / next.clockRate
  const passedRunningS = (next.runningTicks - previous.runningTicks) / TICKS_PER_US / 1e6
  return Math.abs(passedS - passedRunningS) > MAX_DRIFT_S
}

/** Returns the signed difference of two 32-bit timestamps, modulo 2³². */
const ticksBetween = (from: number, to: number) => (to - from) | 0
