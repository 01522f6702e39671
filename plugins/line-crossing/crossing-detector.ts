import type { BBox, Point } from '@eyrie/element'
import { countNetCrossings, measureDistance } from './polyline-geometry.ts'

/**
 * The direction of a crossing: `up` is from the left side of a line to its right side,
 * `down` is the opposite.
 */
export type Direction = 'up' | 'down'

export interface LineCrossing {
  /** Index of the line. */
  line: number
  direction: Direction
}

/**
 * An object at this distance from a line, in box sizes, is clear of it: jitter of its box cannot
 * move it to the other side.
 */
const MIN_CLEARANCE = 0.05
/**
 * The distance after which a crossing back counts. The box of an object that stands on a line for
 * hours jitters farther.
 */
const MIN_RETURN_CLEARANCE = 0.25

/** Detects the line crossings of one track, an object that is followed from frame to frame. */
export class CrossingDetector {
  readonly #lines: readonly (readonly Point[])[]
  #position: Point
  /**
   * Crossings up minus crossings down, for each line, since the object was last clear of the line.
   */
  readonly #netCounts: number[]
  /** The direction of the last completed crossing of each line. */
  readonly #lastDirections: (Direction | undefined)[]

  constructor(lines: readonly (readonly Point[])[], start: Point) {
    this.#lines = lines
    this.#position = start
    this.#netCounts = lines.map(() => 0)
    this.#lastDirections = lines.map(() => undefined)
  }

  /**
   * Moves the object to `position` and returns the crossings that this step completes. A crossing
   * is completed when the object is clear of the line; crossings back and forth before that cancel
   * each other out.
   */
  move(position: Point, bbox: BBox): LineCrossing[] {
    const crossed: LineCrossing[] = []
    for (const [line, coords] of this.#lines.entries()) {
      const net = this.#netCounts[line]! + countNetCrossings(this.#position, position, coords)
      const direction = net > 0 ? 'up' : 'down'
      const lastDirection = this.#lastDirections[line]
      const isReturn = net !== 0 && lastDirection !== undefined && direction !== lastDirection
      const minClearance = isReturn ? MIN_RETURN_CLEARANCE : MIN_CLEARANCE
      const isClear = measureDistance(coords, position, bbox) >= minClearance

      this.#netCounts[line] = isClear ? 0 : net
      if (!isClear || net === 0) continue
      this.#lastDirections[line] = direction
      crossed.push({ line, direction })
    }
    this.#position = position
    return crossed
  }
}
