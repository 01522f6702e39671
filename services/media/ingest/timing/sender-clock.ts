import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SenderReport } from './rtp-statistics.ts'

/** Maps the running time of one RTP stream to its sender's clock, by RTCP sender reports. */
export interface SenderClock {
  /** Records a packet: its running time in 90 kHz ticks, and the newest RTP timestamp at its arrival. */
  addPacket(runningTicks: number, rtp: number): void
  addReport(report: SenderReport): void
  /** Returns the sender's clock, in µs since 1970, at running time 0; undefined before the first packet and report. */
  anchorUs(): number | undefined
}

export interface SenderClockOptions {
  /** RTP clock rate: timestamp ticks per second. */
  rate?: number
  /** Number of recent packets to consider. */
  maxPairs?: number
}

const DEFAULT_MAX_PAIRS = 32

export function createSenderClock({
  rate = TICKS_PER_SECOND,
  maxPairs = DEFAULT_MAX_PAIRS,
}: SenderClockOptions = {}): SenderClock {
  /** RTP timestamps minus running times, relative to `base`. */
  let offsets: number[] = []
  let base = 0
  let running = 0
  let newestReport: SenderReport | undefined

  return {
    addPacket(runningTicks, rtp) {
      running = Math.round((runningTicks * rate) / TICKS_PER_SECOND)
      const difference = rtp - running
      const jump = offsets.length > 0 ? ticksBetween(base, difference) - Math.min(...offsets) : 0
      // More than a second is not drift: the sender has restarted its timestamps, and the report refers to the old ones.
      if (Math.abs(jump) > rate) {
        newestReport = undefined
        offsets = []
      }
      if (offsets.length === 0) base = difference
      offsets = [...offsets, ticksBetween(base, difference)].slice(-maxPairs)
    },

    addReport(report) {
      newestReport = report
    },

    anchorUs() {
      if (!newestReport || offsets.length === 0) return undefined
      // The newest timestamp may belong to a later packet: the smallest offset is that of the packet itself.
      const sinceReport = ticksBetween(newestReport.rtp, base + Math.min(...offsets) + running)
      return newestReport.cameraUs + ((sinceReport - running) * 1e6) / rate
    },
  }
}

/** Returns the signed difference of two 32-bit timestamps, modulo 2³². */
const ticksBetween = (from: number, to: number) => (to - from) | 0
