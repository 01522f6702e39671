import { TICKS_PER_SECOND } from '@eyrie/contract'
import type { Pipeline } from '../../node-gst/index.ts'
import type { LipSync } from '../../sound/sound-tap.ts'
import { createReportedTime, type ReportedTime } from './reported-time.ts'
import { DEPAY, newestRtpPacket, readReport } from './rtp-statistics.ts'

/** The lip sync of one connection to a camera. */
export interface CameraLipSync extends LipSync {
  /** A picture of this stream time has come. */
  seen(pts: number): void
}

export interface LipSyncOptions {
  pipeline: Pipeline
  /** 90 kHz ticks of stream time at running time 0. */
  ptsOffset: number
}

/** GStreamer follows delays of the network within seconds: what was long ago counts no more. */
const PAIRS = 8
/** How often a report is looked for. */
const REPORT_TICKS = TICKS_PER_SECOND / 2
/** What is off by less is heard by nobody, and moving sound is. */
const TOLERANCE_TICKS = TICKS_PER_SECOND / 100
/** Sound that is further from its picture is counted wrongly. */
const MOST_TICKS = 3 * TICKS_PER_SECOND

/**
 * Brings a camera's sound to its pictures by its reports of both. Only the sound is moved: time never goes back for pictures,
 * nor for what was found in them. Nothing is looked at while nobody listens.
 */
export function createLipSync(options: LipSyncOptions): CameraLipSync {
  const picture = createFollowed(options)
  const sound = createFollowed(options)
  let heardAt = Number.NEGATIVE_INFINITY
  let shift = 0

  function follow() {
    const [soundUs, pictureUs] = [sound.cameraUs(), picture.cameraUs()]
    if (soundUs === undefined || pictureUs === undefined) return
    const ticks = Math.round(((soundUs - pictureUs) * 9) / 100)
    if (Math.abs(ticks) < MOST_TICKS && Math.abs(ticks - shift) > TOLERANCE_TICKS) shift = ticks
  }

  return {
    seen(pts) {
      if (pts - heardAt < TICKS_PER_SECOND) picture.came(DEPAY, pts)
    },
    recordArrival(depayloader, pts) {
      heardAt = pts
      sound.came(depayloader, pts)
      follow()
    },
    offsetTicks: () => shift,
  }
}

/** One of both streams. */
function createFollowed({ pipeline, ptsOffset }: LipSyncOptions) {
  let time: ReportedTime | undefined
  let newestRtp: number | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  return {
    came(depayloader: string, pts: number) {
      const newest = newestRtpPacket(pipeline, depayloader)
      // Of several pieces in a packet only the first has its time.
      if (!newest || newest.rtp === newestRtp) return
      newestRtp = newest.rtp
      time ??= createReportedTime({ rate: newest.rate, pairs: PAIRS })
      time.packet(pts - ptsOffset, newest.rtp)
      if (pts - lookedAt < REPORT_TICKS) return
      lookedAt = pts
      const report = readReport(pipeline, newest.rate)
      if (report) time.report(report)
    },
    cameraUs: () => time?.cameraUs(),
  }
}
