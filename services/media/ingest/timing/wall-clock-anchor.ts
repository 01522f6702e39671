import type { CameraClock } from '@eyrie/contract'
import type { Pipeline, Sample } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ticksToUs } from '../../runtime/stream-time.ts'
import type { Origin } from '../origin/origin.ts'
import { createCaptureClock } from './capture-clock.ts'
import { DEPAYLOADER, type Reception } from './rtp-statistics.ts'

/**
 * Maintains a pipeline's time anchor, which is the wall clock at running time 0. The pipeline adds
 * the anchor to the running time of a picture to get its absolute time. The anchor comes from the
 * origin if the origin provides one, else from the camera's clock, else from arrival times.
 */
export interface WallClockAnchor {
  /** Must be called once the pipeline plays, because its clock cannot be read earlier. */
  start(): void
  /** Must be called for each packet. */
  addPacket(sample: Sample): void
  addReception(reception: Reception): void
  cameraClock(): CameraClock
  /**
   * Returns the camera's own clock at running time 0, in µs since 1970; undefined until a
   * sender report has arrived.
   */
  cameraAnchorUs(): number | undefined
}

export interface WallClockAnchorOptions {
  pipeline: Pipeline
  origin: Pick<Origin, 'isLive' | 'timeline' | 'usesRtp'>
  clock: Clock
}

/** How often the anchor is compared with this machine's wall clock, which may be set. */
const ADJUST_INTERVAL_MS = 1000
/**
 * Maximum correction at a time: much less than the time between two pictures, so that their
 * absolute times always increase.
 */
const MAX_STEP_US = 2000
/** A larger deviation is not drift but a clock that was set: the anchor is corrected at once. */
const MAX_DRIFT_US = 1_000_000
/** A camera that appears to need longer from capture to arrival has wrong timestamps. */
const MAX_CAPTURE_DELAY_US = 10_000_000

export function createWallClockAnchor(options: WallClockAnchorOptions): WallClockAnchor {
  const { pipeline, origin, clock } = options
  const { beginTicks = 0, anchorUs: originAnchorUs } = origin.timeline ?? {}
  const beginUs = ticksToUs(beginTicks)
  const cameraTime = createCameraTime(clock)
  /** Undefined until it is known: the pipeline then measures its own for the first picture. */
  let anchorUs: number | undefined
  let adjustedAt = clock.now()
  /** Whether the anchor comes from the camera's clock. */
  let followsCamera = false

  if (originAnchorUs !== undefined) setAnchor(originAnchorUs)
  else if (origin.timeline) setAnchor(clock.wall() * 1000 - beginUs)

  function setAnchor(us: number) {
    anchorUs = Math.round(us)
    pipeline.setTimeline({ timeAnchorUs: anchorUs })
  }

  /**
   * Returns the anchor if a picture arrives now without delay; undefined while the pipeline has no
   * clock. The wall clock is read first: if the thread is preempted between the two readings,
   * pictures appear too old, but never from the future.
   */
  function readArrivalAnchor(): number | undefined {
    const wallMs = clock.wall()
    const runningNs = pipeline.runningTime()
    if (runningNs === null) return undefined
    return Math.round(wallMs * 1000 - runningNs / 1000 - beginUs)
  }

  /**
   * Moves the anchor back if a picture appears to have been captured after its arrival. The
   * cause is an anchor from pictures that arrived late, such as the buffered group of pictures
   * that a server sends first.
   */
  function preventFutureTime({ timeUs }: Sample) {
    if (timeUs === null || anchorUs === undefined) return
    const aheadUs = timeUs - clock.wall() * 1000
    if (aheadUs > 0) setAnchor(anchorUs - Math.ceil(aheadUs))
  }

  /**
   * Moves the anchor towards the camera's clock, or towards arrival times if the camera
   * has no usable clock.
   */
  function adjust() {
    const arrivalUs = readArrivalAnchor()
    if (arrivalUs === undefined) return

    const captureUs = cameraTime.readCaptureAnchor(arrivalUs)
    followsCamera = captureUs !== undefined
    setAnchor(anchorUs === undefined ? arrivalUs : approach(anchorUs, captureUs ?? arrivalUs))
  }

  return {
    start() {
      const arrivalUs = readArrivalAnchor()
      if (arrivalUs !== undefined && originAnchorUs === undefined) setAnchor(arrivalUs)
    },

    addPacket(sample) {
      if (!origin.isLive) return
      if (origin.timeline) return preventFutureTime(sample)

      const packet = origin.usesRtp ? pipeline.newestRtpPacket(DEPAYLOADER) : null
      if (packet) cameraTime.addPacket(packet)
      // The camera's clock is followed with every packet.
      const intervalMs = followsCamera ? 0 : ADJUST_INTERVAL_MS
      if (clock.now() - adjustedAt < intervalMs) return
      adjustedAt = clock.now()
      adjust()
    },

    addReception: cameraTime.addReception,

    cameraClock() {
      if (originAnchorUs !== undefined) return { source: 'sender' }
      const skewUs = cameraTime.skewUs()
      return {
        source: followsCamera ? 'rtcp' : 'arrival',
        ...(skewUs !== undefined && { skew_s: Math.round(skewUs / 1000) / 1000 }),
      }
    },

    cameraAnchorUs: cameraTime.cameraAnchorUs,
  }
}

/** Derives the anchor from the packets and sender reports of a camera. */
function createCameraTime(clock: Clock) {
  const captureClock = createCaptureClock()
  let receptionReadAt = clock.now()

  return {
    addPacket: captureClock.addPacket,
    cameraAnchorUs: captureClock.cameraAnchorUs,
    skewUs: captureClock.skewUs,

    addReception({ report }: Reception) {
      // The report arrived at some time since the statistics were last read.
      const maxDelayMs = clock.now() - receptionReadAt
      receptionReadAt = clock.now()
      if (report) captureClock.addReport(report, clock.wall() * 1000, maxDelayMs * 1000)
    },

    /**
     * Returns the anchor by the camera's clock; undefined if the camera has no usable clock.
     * `arrivalUs` is the anchor by arrival times.
     */
    readCaptureAnchor(arrivalUs: number): number | undefined {
      const captureUs = captureClock.anchorUs()
      const isUsable = captureUs !== undefined && arrivalUs - captureUs < MAX_CAPTURE_DELAY_US
      // A picture cannot have been captured after its arrival.
      return isUsable ? Math.min(captureUs, arrivalUs) : undefined
    },
  }
}

/** Returns the anchor after one correction: a small step, or the target if a clock was set. */
function approach(anchorUs: number, targetUs: number): number {
  const deviationUs = targetUs - anchorUs
  if (Math.abs(deviationUs) > MAX_DRIFT_US) return targetUs
  const stepUs = Math.max(-MAX_STEP_US, Math.min(MAX_STEP_US, deviationUs))
  return anchorUs + stepUs
}
