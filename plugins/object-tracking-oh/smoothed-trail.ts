import {
  type BBox,
  clipToPicture,
  cropToRegion,
  getCenter,
  type Point,
  type Region,
} from '@eyrie/element'

export interface TrailOptions {
  /** Maximum number of points. */
  readonly history: number
  /** Part of the box whose center the trail follows, and the share of the box it covers. */
  readonly region: Region
  readonly ratio: number
  /** Number of positions averaged per point. */
  readonly movingAverage: number
}

/** The most recent positions of an object, smoothed by a trailing moving average. */
export class SmoothedTrail {
  readonly #options: TrailOptions
  /** The positions of which the next point is the average. */
  readonly #averagedPositions: Point[] = []
  readonly #points: Point[] = []

  constructor(options: TrailOptions) {
    this.#options = options
  }

  /** Smoothed positions, oldest first. */
  get points(): Point[] {
    return [...this.#points]
  }

  add(bbox: BBox): void {
    const { history, region, ratio, movingAverage } = this.#options
    const regionBox = cropToRegion(clipToPicture(bbox), region, ratio)
    this.#averagedPositions.push(getCenter(regionBox))
    if (this.#averagedPositions.length > movingAverage) this.#averagedPositions.shift()

    this.#points.push(average(this.#averagedPositions))
    if (this.#points.length > history) this.#points.shift()
  }
}

function average(points: readonly Point[]): Point {
  const sum = (axis: 'x' | 'y') => points.reduce((total, point) => total + point[axis], 0)
  const x = sum('x') / points.length
  const y = sum('y') / points.length
  return { x: round(x), y: round(y) }
}

/** Rounds to 1/10000 of the picture, because trails are long and sent with every frame. */
function round(coordinate: number): number {
  return Math.round(coordinate * 1e4) / 1e4
}
