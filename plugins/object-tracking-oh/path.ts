import { type BBox, centerOf, type Point, partOf, type Region, withinPicture } from '@eyrie/element'

export interface PathOptions {
  /** Points kept. */
  readonly history: number
  /** Part of the box whose centre makes the path, and its share of the box. */
  readonly region: Region
  readonly ratio: number
  /** Positions that make one point. */
  readonly movingAverage: number
}

/** The way of an object, smoothed: each point is the mean of a position and those just before it. */
export class Path {
  readonly #options: PathOptions
  readonly #latest: Point[] = []
  readonly #points: Point[] = []

  constructor(options: PathOptions) {
    this.#options = options
  }

  /** Oldest first. */
  get points(): Point[] {
    return [...this.#points]
  }

  add(bbox: BBox): void {
    const { history, region, ratio, movingAverage } = this.#options
    this.#latest.push(centerOf(partOf(withinPicture(bbox), region, ratio)))
    if (this.#latest.length > movingAverage) this.#latest.shift()
    this.#points.push(meanOf(this.#latest))
    if (this.#points.length > history) this.#points.shift()
  }
}

function meanOf(points: readonly Point[]): Point {
  const sum = (side: 'x' | 'y') => points.reduce((total, point) => total + point[side], 0)
  return { x: round(sum('x') / points.length), y: round(sum('y') / points.length) }
}

/** To a ten-thousandth of the picture: trails are long, and sent with every frame. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
