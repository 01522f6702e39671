import type { SenderReport } from './rtp-statistics.ts'
import { createSenderClock, type SenderClock } from './sender-clock.ts'

/**
 * Determines when pictures were captured, by a camera's RTCP sender reports. The camera's clock may
 * be wrong, so its skew against this machine's clock is measured and subtracted.
 */
export interface CaptureClock extends Pick<SenderClock, 'addPacket'> {
  /**
   * Adds the camera's newest report. `wallUs` is the wall clock when the report was read; it
   * arrived at most `maxDelayUs` earlier. Repeated reports are ignored.
   */
  addReport(report: SenderReport, wallUs: number, maxDelayUs?: number): void
  /**
   * Returns this machine's wall clock at running time 0, in µs since 1970; undefined until it is
   * known.
   */
  anchorUs(): number | undefined
  /**
   * Returns the camera's own clock at running time 0, in µs since 1970; undefined until it is
   * known.
   */
  cameraAnchorUs(): number | undefined
  /** Returns how far the camera's clock is ahead, in µs; undefined before the first report. */
  skewUs(): number | undefined
}

/** Number of recent measurements of the skew to consider. */
const MAX_SKEWS = 8
/**
 * If the report may be older when it is read, its arrival time is too uncertain to measure the
 * skew.
 */
const MAX_REPORT_DELAY_US = 500_000
/**
 * A larger change of the skew is not drift, the slow divergence of two clocks: one of the
 * clocks has been set.
 */
const MAX_DRIFT_US = 1_000_000

export function createCaptureClock(): CaptureClock {
  const senderClock = createSenderClock()
  let lastReport: SenderReport | undefined
  let recentSkewsUs: number[] = []

  /** A delayed report makes the skew appear smaller, so the largest value is the most accurate. */
  const skewUs = () => (recentSkewsUs.length > 0 ? Math.max(...recentSkewsUs) : undefined)

  const isRepeated = (report: SenderReport) =>
    report.cameraUs === lastReport?.cameraUs && report.rtp === lastReport.rtp

  return {
    addPacket: senderClock.addPacket,

    addReport(report, wallUs, maxDelayUs = 0) {
      if (isRepeated(report)) return
      lastReport = report
      if (maxDelayUs > MAX_REPORT_DELAY_US) return

      senderClock.addReport(report)
      const newSkewUs = report.cameraUs - wallUs
      const driftUs = newSkewUs - (skewUs() ?? newSkewUs)
      if (Math.abs(driftUs) > MAX_DRIFT_US) recentSkewsUs = []
      recentSkewsUs = [...recentSkewsUs, newSkewUs].slice(-MAX_SKEWS)
    },

    anchorUs() {
      const cameraUs = senderClock.anchorUs()
      const skew = skewUs()
      if (cameraUs === undefined || skew === undefined) return undefined
      return Math.round(cameraUs - skew)
    },

    cameraAnchorUs: senderClock.anchorUs,
    skewUs,
  }
}
