import { TICKS_PER_SECOND } from '@eyrie/contract'
import { usToTicks } from '../../runtime/stream-time.ts'

/**
 * How the stream time of a session, which is one connection to a camera, relates to clocks. Pictures are timed by running time, which
 * begins at 0 with the session.
 */
export interface SessionTiming {
  /** Stream time at running time 0, in 90 kHz ticks. */
  ptsOffset: number
  /** Monotonic time at running time 0, in µs, by the arrival of the pictures. */
  arrivalUs: number
  /** The camera's clock at running time 0, in µs since 1970, by its sender reports; undefined without them. */
  cameraUs: number | undefined
  /** Distance between two pictures, in 90 kHz ticks. */
  pictureTicks: number
}

/** If the two methods differ by more, the streams of the camera do not use the same clock. */
const MAX_DISAGREEMENT_TICKS = 2 * TICKS_PER_SECOND
/** Smaller deviations are not corrected: one millisecond by the camera's clock, 30 ms by arrival, which varies with the network. */
const CAMERA_TOLERANCE_TICKS = TICKS_PER_SECOND / 1000
const ARRIVAL_TOLERANCE_TICKS = (30 * TICKS_PER_SECOND) / 1000

/**
 * Returns the `ptsOffset` by which the pictures of a sub stream get the stream time that the main stream has at their capture;
 * undefined if the current one is accurate enough.
 *
 * The sender reports of both streams refer to the clock of the camera, if it has a single one. Otherwise the arrival times count. The
 * stream time must not run backwards, so it is moved back by at most half the distance between two pictures, and the next calls
 * continue.
 */
export function calculateRealignment(main: SessionTiming, sub: SessionTiming): number | undefined {
  const byArrival = main.ptsOffset + usToTicks(sub.arrivalUs - main.arrivalUs)
  const byCamera = calculateByCamera(main, sub)
  const usesCamera = byCamera !== undefined && Math.abs(byCamera - byArrival) < MAX_DISAGREEMENT_TICKS

  const target = usesCamera ? byCamera : byArrival
  const tolerance = usesCamera ? CAMERA_TOLERANCE_TICKS : ARRIVAL_TOLERANCE_TICKS
  const deviation = target - sub.ptsOffset
  if (Math.abs(deviation) < tolerance) return undefined
  return Math.round(sub.ptsOffset + Math.max(deviation, -sub.pictureTicks / 2))
}

function calculateByCamera(main: SessionTiming, sub: SessionTiming): number | undefined {
  if (main.cameraUs === undefined || sub.cameraUs === undefined) return undefined
  return main.ptsOffset + usToTicks(sub.cameraUs - main.cameraUs)
}

/** Measures the distance between the pictures of a stream. */
export interface PictureDistance {
  /** `runningTicks` is the running time of the picture. */
  addPicture(runningTicks: number): void
  /** Returns a distance in ticks that few of the last ones fall below; undefined before the second picture. */
  ticks(): number | undefined
}

const MAX_DISTANCES = 32
/** In decoding order, a quarter of the distances or more are those of two consecutive pictures, and the others are multiples. */
const SHORT_SHARE = 0.15

/** Pictures may be added in decoding order. A few distances may be too short, after a network problem for example. */
export function createPictureDistance(): PictureDistance {
  let last: number | undefined
  let distances: number[] = []
  return {
    addPicture(runningTicks) {
      const distance = last === undefined ? 0 : Math.abs(runningTicks - last)
      last = runningTicks
      if (distance > 0) distances = [...distances, distance].slice(-MAX_DISTANCES)
    },
    ticks() {
      const sorted = distances.toSorted((a, b) => a - b)
      return sorted[Math.floor(sorted.length * SHORT_SHARE)]
    },
  }
}
