import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'
import { usToTicks } from '../../runtime/stream-time.ts'
import type { LipSync } from '../../sound/sound-tap.ts'
import { DEPAYLOADER, readNewestRtpPacket, readReport } from './rtp-statistics.ts'
import { createSenderClock, type SenderClock } from './sender-clock.ts'

/** Aligns a camera's sound with its video during one connection to the camera. */
export interface CameraLipSync extends LipSync {
  /** Must be called for each picture that arrives. `pts` is its stream time. */
  onPicture(pts: number): void
}

export interface LipSyncOptions {
  pipeline: Pipeline
  /** Stream time at the pipeline's running time 0, in 90 kHz ticks. */
  ptsOffset: number
}

/** A small number, because GStreamer adapts to the network delay within seconds, and older packets would be misleading. */
const MAX_PACKETS = 8
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
export function createCameraLipSync(options: LipSyncOptions): CameraLipSync {
  const videoClock = createStreamClock(options)
  const soundClock = createStreamClock(options)
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
function createStreamClock({ pipeline, ptsOffset }: LipSyncOptions) {
  let senderClock: SenderClock | undefined
  /** RTP timestamp of the last packet. */
  let newestRtp: number | undefined
  /** Stream time at which the report was last read. */
  let reportReadPts = Number.NEGATIVE_INFINITY

  return {
    addPacket(depayloader: string, pts: number) {
      const packet = readNewestRtpPacket(pipeline, depayloader)
      // Of several samples in one packet, only the first has the packet's timestamp.
      if (!packet || packet.rtp === newestRtp) return
      newestRtp = packet.rtp
      senderClock ??= createSenderClock({ clockRate: packet.clockRate, maxPackets: MAX_PACKETS })
      senderClock.addPacket(pts - ptsOffset, packet.rtp)

      if (pts - reportReadPts < REPORT_INTERVAL_TICKS) return
      reportReadPts = pts
      const report = readReport(pipeline, packet.clockRate)
      if (report) senderClock.addReport(report)
    },
    anchorUs: () => senderClock?.anchorUs(),
  }
}
