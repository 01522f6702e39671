import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'
import { usToTicks } from '../../runtime/stream-time.ts'
import type { LipSync } from '../../sound/sound-tap.ts'
import { DEPAYLOADER, readReport } from './rtp-statistics.ts'
import { createSenderClock } from './sender-clock.ts'

/** Aligns a camera's sound with its video during one connection to the camera. */
export interface CameraLipSync extends LipSync {
  /** Must be called for each picture that arrives. `pts` is its stream time. */
  onPicture(pts: number): void
}

const REPORT_INTERVAL_TICKS = TICKS_PER_SECOND / 2
/** A smaller deviation between sound and video is inaudible, whereas each correction is audible. */
const TOLERANCE_TICKS = TICKS_PER_SECOND / 100
/** A larger deviation results from wrong timestamps and is not corrected. */
const MAX_SHIFT_TICKS = 3 * TICKS_PER_SECOND

/**
 * Compares the RTCP sender reports of the camera's video and sound streams, which refer to the same clock in the camera. Only the
 * sound is shifted, so that the times of pictures and of their analysis results never go backwards. Reports are read only while
 * the sound is in use.
 */
export function createCameraLipSync(pipeline: Pipeline): CameraLipSync {
  const videoClock = createStreamClock(pipeline)
  const soundClock = createStreamClock(pipeline)
  let lastSoundPts = Number.NEGATIVE_INFINITY
  let offsetTicks = 0

  function updateOffset() {
    const soundUs = soundClock.anchorUs()
    const videoUs = videoClock.anchorUs()
    if (soundUs === undefined || videoUs === undefined) return

    const deviationTicks = Math.round(usToTicks(soundUs - videoUs))
    if (Math.abs(deviationTicks) >= MAX_SHIFT_TICKS) return
    if (Math.abs(deviationTicks - offsetTicks) > TOLERANCE_TICKS) offsetTicks = deviationTicks
  }

  return {
    onPicture(pts) {
      const isSoundInUse = pts - lastSoundPts < TICKS_PER_SECOND
      if (isSoundInUse) videoClock.addPacket(DEPAYLOADER, pts)
    },
    recordArrival(depayloader, pts) {
      lastSoundPts = pts
      soundClock.addPacket(depayloader, pts)
      updateOffset()
    },
    offsetTicks: () => offsetTicks,
  }
}

/** Derives the camera's clock from the packets and sender reports of one RTP stream. */
function createStreamClock(pipeline: Pipeline) {
  const senderClock = createSenderClock()
  /** Stream time at which the report was last read. */
  let reportReadPts = Number.NEGATIVE_INFINITY

  return {
    /** Must be called for each sample, with its stream time. */
    addPacket(depayloader: string, pts: number) {
      const packet = pipeline.newestRtpPacket(depayloader)
      if (!packet) return
      senderClock.addPacket(packet)

      if (pts - reportReadPts < REPORT_INTERVAL_TICKS) return
      reportReadPts = pts
      const report = readReport(pipeline, packet.clockRate)
      if (report) senderClock.addReport(report)
    },
    anchorUs: senderClock.anchorUs,
  }
}
