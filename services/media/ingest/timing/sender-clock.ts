import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { SenderReport } from './rtp-statistics.ts'

/**
 * Maps the running time of an RTP stream, which starts at 0 with the pipeline, to the clock of the sender, such as a camera. RTCP sender reports map RTP timestamps to the sender's clock, and
 * packets map running times to RTP timestamps.
 */
export interface SenderClock {
  /** Records that at this running time, in 90 kHz ticks, the newest packet had this RTP timestamp. */
  addPacket(runningTicks: number, rtp: number): void
  addReport(report: SenderReport): void
  /** Returns the sender's clock, in µs since 1970, at running time 0; undefined before the first packet and report. */
  anchorUs(): number | undefined
  /** Returns whether `anchorUs` considers as many packets as possible. Earlier, it may be wrong by the delay of a packet. */
  isSettled(): boolean
}

export interface SenderClockOptions {
  /** RTP timestamp ticks per second. */
  clockRate?: number
  /** Number of recent packets to consider. */
  maxPackets?: number
}

const DEFAULT_MAX_PACKETS = 32

export function createSenderClock({
  clockRate = TICKS_PER_SECOND,
  maxPackets = DEFAULT_MAX_PACKETS,
}: SenderClockOptions = {}): SenderClock {
  /** RTP timestamp minus running time of each recent packet, relative to `baseOffset`. */
  let offsets: number[] = []
  let baseOffset = 0
  /** Running time of the last packet, in ticks of the RTP clock. */
  let lastRunning = 0
  let newestReport: SenderReport | undefined

  return {
    addPacket(runningTicks, rtp) {
      lastRunning = Math.round((runningTicks * clockRate) / TICKS_PER_SECOND)
      const offset = rtp - lastRunning
      const isFirst = offsets.length === 0
      const jump = isFirst ? 0 : ticksBetween(baseOffset, offset) - Math.min(...offsets)

      // More than a second is not drift: the sender has restarted its timestamps, and the report refers to the old ones.
      if (Math.abs(jump) > clockRate) {
        newestReport = undefined
        offsets = []
      }

      if (offsets.length === 0) baseOffset = offset
      offsets = [...offsets, ticksBetween(baseOffset, offset)].slice(-maxPackets)
    },

    addReport(report) {
      newestReport = report
    },

    isSettled: () => offsets.length >= maxPackets,

    anchorUs() {
      if (!newestReport || offsets.length === 0) return undefined
      // The newest timestamp may belong to a packet after the one at this running time, so the smallest offset is the correct one.
      const rtp = baseOffset + Math.min(...offsets) + lastRunning
      const sinceReport = ticksBetween(newestReport.rtp, rtp)
      return newestReport.cameraUs + ((sinceReport - lastRunning) * 1e6) / clockRate
    },
  }
}

/** Returns the signed difference of two 32-bit timestamps, modulo 2³². */
const ticksBetween = (from: number, to: number) => (to - from) | 0
