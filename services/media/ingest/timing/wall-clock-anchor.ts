import type { CameraClock } from '@eyrie/contract'
import type { Pipeline, Sample } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Origin } from '../origin/origin.ts'
import { createCaptureClock } from './capture-clock.ts'
import { type Reception, readNewestRtpPacket } from './rtp-statistics.ts'

/**
 * Maintains a pipeline's time anchor: the wall clock at running time 0, from which pictures get their absolute time. It is known
 * from the origin, or follows the camera's clock, or else the arrival times.
 */
export interface WallClockAnchor {
  /** Called when the pipeline plays, so that its clock can be read. */
  start(): void
  /** Called with each packet. */
  addPacket(sample: Sample): void
  addReception(reception: Reception): void
  cameraClock(): CameraClock
}

export interface WallClockAnchorOptions {
  pipeline: Pipeline
  origin: Pick<Origin, 'live' | 'timeline'>
  /** Stream time at running time 0, in 90 kHz ticks. */
  ptsOffset: number
  clock: Clock
}

/** How often the anchor follows this machine's wall clock, which may be set. */
const FOLLOW_INTERVAL_MS = 1000
/** Much less than the time between pictures, so that their absolute times increase. */
const MAX_STEP_US = 2000
/** A larger deviation is corrected at once. */
const MAX_DRIFT_US = 1_000_000
/** A camera with a larger delay from capture to packet has wrong timestamps. */
const MAX_CAPTURE_DELAY_US = 10_000_000
/** The first packets are all compared with their RTP timestamps, later ones only occasionally. */
const FIRST_PAIRS = 32
const LATER_PAIR_INTERVAL = 10

export function createWallClockAnchor(options: WallClockAnchorOptions): WallClockAnchor {
  const { pipeline, origin, ptsOffset, clock } = options
  const { begins = 0, anchorUs: originAnchorUs } = origin.timeline ?? {}
  const captureClock = createCaptureClock()
  const beginsUs = (begins * 100) / 9
  let anchorUs = originAnchorUs ?? toAnchor(clock.wall(), 0)
  let followedAt = clock.now()
  let receptionAt = clock.now()
  let packets = 0
  let followsCamera = false
  pipeline.setTimeline({ timeAnchorUs: anchorUs })

  /** Returns the wall clock at running time 0, if a picture arrives at this wall clock and running time. */
  function toAnchor(wallMs: number, runningNs: number): number {
    return Math.round(wallMs * 1000 - runningNs / 1000 - beginsUs)
  }

  /**
   * Returns the anchor by arrival time; undefined while the pipeline has no clock. The wall clock is read first: if the thread is
   * preempted between the two readings, pictures appear older, but never from the future.
   */
  function readArrivalAnchor(): number | undefined {
    const wallMs = clock.wall()
    const runningNs = pipeline.runningTime()
    return runningNs === null ? undefined : toAnchor(wallMs, runningNs)
  }

  function setAnchor(us: number) {
    anchorUs = Math.round(us)
    pipeline.setTimeline({ timeAnchorUs: anchorUs })
  }

  /**
   * No picture is captured after it arrives. If one appears to be, earlier ones arrived late, such as the group of pictures that a
   * server sends first, and the anchor was too late.
   */
  function preventFutureTime({ timeUs }: Sample) {
    const aheadUs = (timeUs ?? 0) - clock.wall() * 1000
    if (aheadUs > 0) setAnchor(anchorUs - Math.ceil(aheadUs))
  }

  function pairWithRtp({ pts }: Sample) {
    if (pts === null || (packets++ >= FIRST_PAIRS && packets % LATER_PAIR_INTERVAL !== 0)) return
    const newest = readNewestRtpPacket(pipeline)
    if (newest) captureClock.addPacket(pts - ptsOffset, newest.rtp)
  }

  /** Adjusts the anchor to the camera's clock, or to arrival times if the camera has no usable clock. */
  function follow() {
    const arrivalUs = readArrivalAnchor()
    if (arrivalUs === undefined) return
    const captureUs = captureClock.anchorUs()
    followsCamera = captureUs !== undefined && arrivalUs - captureUs < MAX_CAPTURE_DELAY_US
    const targetUs = followsCamera ? Math.min(captureUs!, arrivalUs) : arrivalUs
    const deviationUs = targetUs - anchorUs
    const stepUs = Math.max(-MAX_STEP_US, Math.min(MAX_STEP_US, deviationUs))
    setAnchor(anchorUs + (Math.abs(deviationUs) > MAX_DRIFT_US ? deviationUs : stepUs))
  }

  return {
    start() {
      const arrivalUs = readArrivalAnchor()
      if (arrivalUs !== undefined && originAnchorUs === undefined) setAnchor(arrivalUs)
    },

    addPacket(sample) {
      if (!origin.live) return
      if (origin.timeline) return preventFutureTime(sample)
      pairWithRtp(sample)
      const intervalMs = followsCamera ? 0 : FOLLOW_INTERVAL_MS
      if (clock.now() - followedAt < intervalMs) return
      followedAt = clock.now()
      follow()
    },

    addReception({ report }) {
      const sinceLastMs = clock.now() - receptionAt
      receptionAt = clock.now()
      if (report) captureClock.addReport(report, clock.wall() * 1000, sinceLastMs * 1000)
    },

    cameraClock() {
      if (originAnchorUs !== undefined) return { source: 'sender' }
      const skewUs = captureClock.skewUs()
      return {
        source: followsCamera ? 'rtcp' : 'arrival',
        ...(skewUs !== undefined && { skew_s: Math.round(skewUs / 1000) / 1000 }),
      }
    },
  }
}
