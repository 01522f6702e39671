import { TICKS_PER_SECOND } from '@eyrie/contract'
import { usToTicks } from '../../runtime/stream-time.ts'

/**
 * The stream time of a session in relation to clocks. A session is one connection to a camera.
 * GStreamer gives its pictures a running time, which begins at 0 with the session.
 */
export interface SessionTiming {
  /** Stream time at running time 0, in 90 kHz ticks. */
  ptsOffset: number
  /** Monotonic time at running time 0, in µs, by the arrival of the pictures. */
  arrivalUs: number
  /**
   * The camera's clock at running time 0, in µs since 1970, by its sender reports;
   * undefined without them.
   */
  cameraUs: number | undefined
  /** Distance between two pictures, in 90 kHz ticks. */
  pictureTicks: number
}

/**
 * If the results by the camera's clock and by arrival differ by more, the streams of the camera do
 * not use the same clock.
 */
const MAX_DISAGREEMENT_TICKS = 2 * TICKS_PER_SECOND
/** Smaller deviations by the camera's clock are not corrected: one millisecond. */
const CAMERA_TOLERANCE_TICKS = TICKS_PER_SECOND / 1000
/** Smaller deviations by arrival, which varies with the network, are not corrected: 30 ms. */
const ARRIVAL_TOLERANCE_TICKS = (30 * TICKS_PER_SECOND) / 1000

/**
 * Returns a `ptsOffset` for the sub stream that gives its pictures the stream time that the main
 * stream has at their capture. Returns undefined if the current offset is accurate enough.
 *
 * The streams are aligned by their sender reports, if these refer to the same clock in the camera,
 * and otherwise by arrival. Stream time must not run backwards, so it is moved back by at most half
 * the distance between two pictures. Later calls correct the rest.
 */
export function calculateRealignment(main: SessionTiming, sub: SessionTiming): number | undefined {
  const byArrival = main.ptsOffset + usToTicks(sub.arrivalUs - main.arrivalUs)
  const byCamera = calculateByCamera(main, sub)
  const usesCamera =
    byCamera !== undefined && Math.abs(byCamera - byArrival) < MAX_DISAGREEMENT_TICKS

  const target = usesCamera ? byCamera : byArrival
  const tolerance = usesCamera ? CAMERA_TOLERANCE_TICKS : ARRIVAL_TOLERANCE_TICKS
  const deviation = target - sub.ptsOffset
  if (Math.abs(deviation) < tolerance) return undefined
  const correction = Math.max(deviation, -sub.pictureTicks / 2)
  return Math.round(sub.ptsOffset + correction)
}

function calculateByCamera(main: SessionTiming, sub: SessionTiming): number | undefined {
  if (main.cameraUs === undefined || sub.cameraUs === undefined) return undefined
  return main.ptsOffset + usToTicks(sub.cameraUs - main.cameraUs)
}
