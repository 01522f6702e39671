import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SenderReport } from './rtp-statistics.ts'

/** Tells by a camera's sender reports of one stream what its clock showed when something in it was taken. */
export interface ReportedTime {
  /** What has this running time (90 kHz ticks) has come, when this RTP timestamp was the newest. */
  packet(runningTicks: number, rtp: number): void
  report(report: SenderReport): void
  /** The camera's clock, in µs since 1970, at running time 0; undefined while that is not known. */
  cameraUs(): number | undefined
}

const MOST_PAIRS = 32

export interface ReportedTimeOptions {
  /** Ticks a second of the stream's RTP timestamps. */
  rate?: number
  /** How many packets are looked back at. */
  pairs?: number
}

export function createReportedTime({
  rate = TICKS_PER_SECOND,
  pairs: kept = MOST_PAIRS,
}: ReportedTimeOptions = {}): ReportedTime {
  /** RTP timestamps less running times, relative to the first of them. */
  let pairs: number[] = []
  let origin = 0
  let running = 0
  let newest: SenderReport | undefined

  return {
    packet(runningTicks, rtp) {
      running = Math.round((runningTicks * rate) / TICKS_PER_SECOND)
      const pair = rtp - running
      const ahead = ticksBetween(origin, pair)
      // What differs by more than a second has not drifted: the camera has begun to count anew.
      if (pairs.length > 0 && Math.abs(ahead - Math.min(...pairs)) > rate) {
        // The report is of the time before.
        newest = undefined
        pairs = []
      }
      if (pairs.length === 0) origin = pair
      pairs = [...pairs, ticksBetween(origin, pair)].slice(-kept)
    },

    report(report) {
      newest = report
    },

    cameraUs() {
      if (!newest || pairs.length === 0) return undefined
      // A later packet may be there already: the least is that of the packet itself.
      const sinceReport = ticksBetween(newest.rtp, origin + Math.min(...pairs) + running)
      return newest.cameraUs + ((sinceReport - running) * 1e6) / rate
    },
  }
}

/** From one 32-bit timestamp to another, the short way round. */
const ticksBetween = (from: number, to: number) => (to - from) | 0
