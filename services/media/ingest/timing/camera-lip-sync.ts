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

/**
 * Minimum time between two reads of the sender reports, so that they are not read for every packet.
 */
const REPORT_INTERVAL_TICKS = TICKS_PER_SECOND / 2
/** The sound counts as in use for this long after its last sample. */
const SOUND_IN_USE_TICKS = TICKS_PER_SECOND
/**
 * The offset changes only by more than this: a smaller error is inaudible, whereas each
 * correction is audible.
 */
const TOLERANCE_TICKS = TICKS_PER_SECOND / 100
/** A larger deviation results from wrong timestamps and is not corrected. */
const MAX_SHIFT_TICKS = 3 * TICKS_PER_SECOND

/**
 * Compares the RTCP sender reports of the camera's video and sound streams, which refer to the same
 * clock in the camera. Only the sound is shifted, so that the times of pictures and of their
 * analysis results never go backwards. Reports are read only while the sound is in use.
 */
export function createCameraLipSync(pipeline: Pipeline): CameraLipSync {
  const videoClock = createStreamClock(pipeline)
  const soundClock = createStreamClock(pipeline)
  let lastSoundPts: number | undefined
  /** By how much the sound is shifted: it becomes later if this is positive. */
  let offsetTicks = 0

  function updateOffset() {
    // The camera's clock at time 0 of each stream. The difference is the deviation
    // between sound and video.
    const soundUs = soundClock.anchorUs()
    const videoUs = videoClock.anchorUs()
    if (soundUs === undefined || videoUs === undefined) return

    const deviationTicks = Math.round(usToTicks(soundUs - videoUs))
    if (Math.abs(deviationTicks) >= MAX_SHIFT_TICKS) return
    if (Math.abs(deviationTicks - offsetTicks) > TOLERANCE_TICKS) offsetTicks = deviationTicks
  }

  return {
    onPicture(pts) {
      const isSoundInUse = lastSoundPts !== undefined && pts - lastSoundPts < SOUND_IN_USE_TICKS
      // The depayloader of the video has a fixed name, whereas that of the sound
      // depends on its codec.
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
  let reportReadPts: number | undefined

  return {
    /** Must be called for each sample, with its stream time. */
    addPacket(depayloader: string, pts: number) {
      const packet = pipeline.newestRtpPacket(depayloader)
      if (!packet) return
      senderClock.addPacket(packet)

      const isReportFresh =
        reportReadPts !== undefined && pts - reportReadPts < REPORT_INTERVAL_TICKS
      if (isReportFresh) return
      reportReadPts = pts
      const report = readReport(pipeline, packet.clockRate)
      if (report) senderClock.addReport(report)
    },
    /**
     * Returns the camera's clock, in µs since 1970, at time 0 of the stream; undefined
     * before the first report.
     */
    anchorUs: senderClock.anchorUs,
  }
}
