import { createReportedTime, type ReportedTime } from './reported-time.ts'
import type { SenderReport } from './rtp-statistics.ts'

/**
 * Tells when pictures were taken from a camera's sender reports. Its clock may be wrong: it is compared with this
 * machine's, and only differences are taken from it.
 */
export interface CaptureClock extends Pick<ReportedTime, 'packet'> {
  /** The newest report, noticed at this wall clock. It has come at most so much earlier. The same one may be told again. */
  report(report: SenderReport, wallUs: number, earlierUs?: number): void
  /** Wall clock, in µs since 1970, at running time 0; undefined while that is not known. */
  anchorUs(): number | undefined
  /** How far the camera's clock is ahead, in µs; undefined before its first report. */
  skewUs(): number | undefined
}

const REPORTS_KEPT = 8
/** What may have come so long before it was noticed does not tell what time it was then. */
const MOST_EARLIER_US = 500_000
/** What differs by more has not drifted: a clock was set. */
const LEAP_US = 1_000_000

export function createCaptureClock(): CaptureClock {
  const time = createReportedTime()
  let told: SenderReport | undefined
  let skews: number[] = []

  /** A report comes late, never early: the least late one is nearest to the truth. */
  const skew = () => (skews.length > 0 ? Math.max(...skews) : undefined)

  return {
    packet: time.packet,

    report(report, wallUs, earlierUs = 0) {
      if (report.cameraUs === told?.cameraUs && report.rtp === told.rtp) return
      told = report
      if (earlierUs > MOST_EARLIER_US) return
      time.report(report)
      const ahead = report.cameraUs - wallUs
      if (Math.abs(ahead - (skew() ?? ahead)) > LEAP_US) skews = []
      skews = [...skews, ahead].slice(-REPORTS_KEPT)
    },

    anchorUs() {
      const [cameraUs, skewUs] = [time.cameraUs(), skew()]
      return cameraUs === undefined || skewUs === undefined ? undefined : Math.round(cameraUs - skewUs)
    },

    skewUs: skew,
  }
}
