import type { SenderReport } from './rtp-statistics.ts'
import { createSenderClock, type SenderClock } from './sender-clock.ts'

/**
 * Determines by a camera's sender reports when pictures were captured. The camera's clock may be wrong: it is compared with
 * this machine's clock, and only differences between its times are used.
 */
export interface CaptureClock extends Pick<SenderClock, 'addPacket'> {
  /**
   * Adds the newest report, which was noticed at this wall clock and arrived at most `maxDelayUs` earlier. Adding the same
   * report again has no effect.
   */
  addReport(report: SenderReport, wallUs: number, maxDelayUs?: number): void
  /** Returns the wall clock, in µs since 1970, at running time 0; undefined until known. */
  anchorUs(): number | undefined
  /** Returns how far the camera's clock is ahead, in µs; undefined before the first report. */
  skewUs(): number | undefined
}

const MAX_SKEWS = 8
/** A report that may have arrived earlier than this before it was noticed does not reveal the clock skew. */
const MAX_REPORT_DELAY_US = 500_000
/** A larger difference is not drift: a clock was set. */
const MAX_DRIFT_US = 1_000_000

export function createCaptureClock(): CaptureClock {
  const senderClock = createSenderClock()
  let lastReport: SenderReport | undefined
  let skews: number[] = []

  /** Delays make a report look less ahead than it is, so that the largest skew is the most accurate. */
  const skewUs = () => (skews.length > 0 ? Math.max(...skews) : undefined)

  return {
    addPacket: senderClock.addPacket,

    addReport(report, wallUs, maxDelayUs = 0) {
      if (report.cameraUs === lastReport?.cameraUs && report.rtp === lastReport.rtp) return
      lastReport = report
      if (maxDelayUs > MAX_REPORT_DELAY_US) return
      senderClock.addReport(report)
      const skew = report.cameraUs - wallUs
      if (Math.abs(skew - (skewUs() ?? skew)) > MAX_DRIFT_US) skews = []
      skews = [...skews, skew].slice(-MAX_SKEWS)
    },

    anchorUs() {
      const cameraUs = senderClock.anchorUs()
      const skew = skewUs()
      return cameraUs === undefined || skew === undefined ? undefined : Math.round(cameraUs - skew)
    },

    skewUs,
  }
}
