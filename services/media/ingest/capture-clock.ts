import type { SenderReport } from './rtp-statistics.ts'

/**
 * Tells when pictures were taken from a camera's sender reports. Its clock may be wrong: it is compared with this
 * machine's, and only differences are taken from it.
 */
export interface CaptureClock {
  /** A picture at this running time (90 kHz ticks) has come, when this RTP timestamp was the newest. */
  packet(runningTicks: number, rtp: number): void
  /** The newest report, noticed at this wall clock. It has come at most so much earlier. The same one may be told again. */
  report(report: SenderReport, wallUs: number, earlierUs?: number): void
  /** Wall clock, in µs since 1970, at running time 0; undefined while that is not known. */
  anchorUs(): number | undefined
  /** How far the camera's clock is ahead, in µs; undefined before its first report. */
  skewUs(): number | undefined
}

const PAIRS_KEPT = 32
const REPORTS_KEPT = 8
/** What may have come so long before it was noticed does not tell what time it was then. */
const MOST_EARLIER_US = 500_000
/** What differs by more has not drifted: a clock was set, or the camera has begun to count anew. */
const LEAP_US = 1_000_000
const LEAP_TICKS = 90_000

export function createCaptureClock(): CaptureClock {
  /** RTP timestamps less running times, relative to the first of them. */
  let pairs: number[] = []
  let origin = 0
  let running = 0
  let newest: SenderReport | undefined
  let told: SenderReport | undefined
  let skews: number[] = []

  /** A report comes late, never early: the least late one is nearest to the truth. */
  const skew = () => (skews.length > 0 ? Math.max(...skews) : undefined)

  return {
    packet(runningTicks, rtp) {
      running = runningTicks
      const pair = rtp - runningTicks
      const ahead = ticksBetween(origin, pair)
      if (pairs.length > 0 && Math.abs(ahead - Math.min(...pairs)) > LEAP_TICKS) {
        // The report is of the time before.
        newest = undefined
        pairs = []
      }
      if (pairs.length === 0) origin = pair
      pairs = [...pairs, ticksBetween(origin, pair)].slice(-PAIRS_KEPT)
    },

    report(report, wallUs, earlierUs = 0) {
      if (report.cameraUs === told?.cameraUs && report.rtp === told.rtp) return
      told = report
      if (earlierUs > MOST_EARLIER_US) return
      newest = report
      const ahead = report.cameraUs - wallUs
      if (Math.abs(ahead - (skew() ?? ahead)) > LEAP_US) skews = []
      skews = [...skews, ahead].slice(-REPORTS_KEPT)
    },

    anchorUs() {
      const skewUs = skew()
      if (!newest || skewUs === undefined || pairs.length === 0) return undefined
      // A packet of the next picture may be there already: the least is that of the picture itself.
      const sinceReport = ticksBetween(newest.rtp, origin + Math.min(...pairs) + running)
      return Math.round(newest.cameraUs - skewUs + ((sinceReport - running) * 100) / 9)
    },

    skewUs: skew,
  }
}

/** From one 32-bit timestamp to another, the short way round. */
const ticksBetween = (from: number, to: number) => (to - from) | 0
