import type { BBox, Frame, Point } from '@eyrie/element'
import { computeHomography, type Homography } from './homography.ts'

/** Assumed height of a person, the only known scale of an uncalibrated camera. */
const PERSON_HEIGHT_METRES = 1.7

export interface Calibration {
  /** Four points of the floor in normalized picture coordinates (0..1). */
  image: Point[]
  /** The same points on the floor in metres. */
  world: Point[]
}

/**
 * Returns the distance between two people in metres, or undefined if the floor under a person
 * cannot be determined.
 */
export type DistanceEstimator = (
  a: BBox,
  b: BBox,
  picture: Pick<Frame, 'width' | 'height'>,
) => number | undefined

/**
 * Creates an estimator that measures on the calibrated floor or, without calibration, by
 * the height of people.
 */
export function createDistanceEstimator(calibration: Calibration | undefined): DistanceEstimator {
  return calibration
    ? createFloorEstimator(computeHomography(calibration.image, calibration.world))
    : estimateByHeight
}

function createFloorEstimator(toFloor: Homography): DistanceEstimator {
  return (a, b) => {
    const from = toFloor(getFeet(a))
    const to = toFloor(getFeet(b))
    if (!from || !to) return undefined
    return Math.hypot(to.x - from.x, to.y - from.y)
  }
}

/**
 * Compares the distance with the height of the people. Assumes that both are equally far from the
 * camera and equally tall.
 */
function estimateByHeight(
  a: BBox,
  b: BBox,
  { width, height }: Pick<Frame, 'width' | 'height'>,
): number | undefined {
  const meanHeight = (a.h + b.h) / 2
  if (meanHeight === 0) return undefined

  const from = getFeet(a)
  const to = getFeet(b)
  // Coordinates are shares of the picture's width and height. The unit here is the height, as for
  // the height of a box.
  const distanceX = ((to.x - from.x) * width) / height
  const distanceY = to.y - from.y
  const distance = Math.hypot(distanceX, distanceY)
  return (distance * PERSON_HEIGHT_METRES) / meanHeight
}

/** Returns the middle of the lower edge of a box. */
function getFeet({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h }
}
