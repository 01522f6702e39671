import type { BBox, Frame, Point } from '@eyrie/element'
import { type Homography, homographyBetween } from './homography.ts'

/** Height of a person where nothing else tells the scale. */
const PERSON_METRES = 1.7

export interface Calibration {
  /** Four points of the floor in the picture, 0..1. */
  image: Point[]
  /** The same four on the floor, in metres. */
  world: Point[]
}

/** Metres between two people; undefined where one of them stands nowhere on the floor. */
export type Ruler = (a: BBox, b: BBox, picture: Pick<Frame, 'width' | 'height'>) => number | undefined

/** Measures on the floor: by four known points of it (a homography), or else by how tall people are. */
export function rulerFor(calibration: Calibration | undefined): Ruler {
  return calibration ? onFloor(homographyBetween(calibration.image, calibration.world)) : byHeight
}

function onFloor(place: Homography): Ruler {
  return (a, b) => {
    const [from, to] = [place(feetOf(a)), place(feetOf(b))]
    return from && to && Math.hypot(to.x - from.x, to.y - from.y)
  }
}

/** As if both stood equally far from the camera: in between, as tall as their mean. */
function byHeight(a: BBox, b: BBox, { width, height }: Pick<Frame, 'width' | 'height'>): number | undefined {
  const tall = (a.h + b.h) / 2
  if (tall === 0) return undefined
  const [from, to] = [feetOf(a), feetOf(b)]
  return (Math.hypot(((to.x - from.x) * width) / height, to.y - from.y) * PERSON_METRES) / tall
}

/** The middle of a box's lower edge. */
function feetOf({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h }
}
