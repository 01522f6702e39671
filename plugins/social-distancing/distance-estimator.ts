import type { BBox, Frame, Point } from '@eyrie/element'
import { computeHomography, type Homography } from './homography.ts'

/** Assumed height of a person, the only known scale of an uncalibrated camera. */
const PERSON_HEIGHT_METRES = 1.7

export interface Calibration {
  /** Four points of the floor in normalised picture coordinates (0..1). */
  image: Point[]
  /** The same points on the floor in metres. */
  world: Point[]
}

/** Estimates the distance between two people in metres, or undefined if one of them is not on the floor. */
export type DistanceEstimator = (
  a: BBox,
  b: BBox,
  picture: Pick<Frame, 'width' | 'height'>,
) => number | undefined

/** Estimates distances on the calibrated floor, or from the height of people if there is no calibration. */
export function createDistanceEstimator(calibration: Calibration | undefined): DistanceEstimator {
  return calibration
    ? createFloorEstimator(computeHomography(calibration.image, calibration.world))
    : estimateByHeight
}

function createFloorEstimator(toFloor: Homography): DistanceEstimator {
  return (a, b) => {
    const [from, to] = [toFloor(getFeet(a)), toFloor(getFeet(b))]
    return from && to && Math.hypot(to.x - from.x, to.y - from.y)
  }
}

/** Assumes that both people are at the same distance from the camera and have the mean of their heights. */
function estimateByHeight(
  a: BBox,
  b: BBox,
  { width, height }: Pick<Frame, 'width' | 'height'>,
): number | undefined {
  const meanHeight = (a.h + b.h) / 2
  if (meanHeight === 0) return undefined
  const [from, to] = [getFeet(a), getFeet(b)]
  return (Math.hypot(((to.x - from.x) * width) / height, to.y - from.y) * PERSON_HEIGHT_METRES) / meanHeight
}

/** The middle of a box's lower edge. */
function getFeet({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h }
}
