import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'
import type { LipSync } from '../../sound/sound-tap.ts'
import { DEPAYLOADER, readNewestRtpPacket, readReport } from './rtp-statistics.ts'
import { createSenderClock, type SenderClock } from './sender-clock.ts'

/** The lip sync of one connection to a camera. */
export interface CameraLipSync extends LipSync {
  /** A picture has arrived. `pts` is its stream time. */
  onPicture(pts: number): void
}

export interface LipSyncOptions {
  pipeline: Pipeline
  /** Stream time at running time 0, in 90 kHz ticks. */
  ptsOffset: number
}

/** Few, since GStreamer adapts to network delay within seconds and older packets are misleading. */
const MAX_PAIRS = 8
const REPORT_INTERVAL_TICKS = TICKS_PER_SECOND / 2
/** A smaller deviation is inaudible, whereas a shift of the sound is audible. */
const TOLERANCE_TICKS = TICKS_PER_SECOND / 100
/** A larger deviation results from wrong timestamps. */
const MAX_SHIFT_TICKS = 3 * TICKS_PER_SECOND

/**
 * Aligns a camera's sound with its video by the sender reports of both streams. Only sound is shifted: the time of pictures, and
 * of results found in them, never goes backwards. Nothing is measured while sound is not in use.
 */
export function createCameraLipSync(options: LipSyncOptions): CameraLipSync {
  const video = createStreamClock(options)
  const sound = createStreamClock(options)
  let lastSoundPts = Number.NEGATIVE_INFINITY
  let offsetTicks = 0

  function updateOffset() {
    const soundUs = sound.anchorUs()
    const videoUs = video.anchorUs()
    if (soundUs === undefined || videoUs === undefined) return
    const ticks = Math.round(((soundUs - videoUs) * 9) / 100)
    if (Math.abs(ticks) < MAX_SHIFT_TICKS && Math.abs(ticks - offsetTicks) > TOLERANCE_TICKS)
      offsetTicks = ticks
  }

  return {
    onPicture(pts) {
      if (pts - lastSoundPts < TICKS_PER_SECOND) video.addPacket(DEPAYLOADER, pts)
    },
    recordArrival(depayloader, pts) {
      lastSoundPts = pts
      sound.addPacket(depayloader, pts)
      updateOffset()
    },
    offsetTicks: () => offsetTicks,
  }
}

/** The camera's clock as one of the two streams shows it. */
function createStreamClock({ pipeline, ptsOffset }: LipSyncOptions) {
  let senderClock: SenderClock | undefined
  let newestRtp: number | undefined
  let reportReadAt = Number.NEGATIVE_INFINITY

  return {
    addPacket(depayloader: string, pts: number) {
      const newest = readNewestRtpPacket(pipeline, depayloader)
      // If a packet contains several samples, only the first one has its timestamp.
      if (!newest || newest.rtp === newestRtp) return
      newestRtp = newest.rtp
      senderClock ??= createSenderClock({ rate: newest.rate, maxPairs: MAX_PAIRS })
      senderClock.addPacket(pts - ptsOffset, newest.rtp)
      if (pts - reportReadAt < REPORT_INTERVAL_TICKS) return
      reportReadAt = pts
      const report = readReport(pipeline, newest.rate)
      if (report) senderClock.addReport(report)
    },
    anchorUs: () => senderClock?.anchorUs(),
  }
}
