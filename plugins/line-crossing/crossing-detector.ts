import type { BBox, Point } from '@eyrie/element'
import { distanceInBoxes, netCrossings } from './polyline-geometry.ts'

/** The direction of a crossing: `up` is from the left side of a line to its right side, `down` is the opposite. */
export type Direction = 'up' | 'down'

/** Minimum distance from a line, in box sizes, at which jitter of the box cannot move an object to the other side. */
const MIN_CLEARANCE = 0.05
/** The same for the way back. An object that stands on a line jitters for hours; one that turns back goes farther than that. */
const MIN_RETURN_CLEARANCE = 0.25

/** Detects the line crossings of one track, which is an object that is followed from frame to frame. */
export class CrossingDetector {
  readonly #lines: readonly (readonly Point[])[]
  #position: Point
  /**
   * Net crossings of each line, which are crossings up minus crossings down, since the object was last at least the minimum
   * clearance away from the line.
   */
  readonly #pending: number[]
  /** The direction in which the object has crossed each line last. */
  readonly #lastDirections: (Direction | undefined)[]

  constructor(lines: readonly (readonly Point[])[], start: Point) {
    this.#lines = lines
    this.#position = start
    this.#pending = lines.map(() => 0)
    this.#lastDirections = lines.map(() => undefined)
  }

  /**
   * Moves the object to `position` and returns the crossings completed by this step, by line index. A crossing is
   * completed when the object is clear of the line; crossings back and forth before that cancel each other out.
   */
  move(position: Point, bbox: BBox): { line: number; direction: Direction }[] {
    const crossed: { line: number; direction: Direction }[] = []
    for (let line = 0; line < this.#lines.length; line += 1) {
      const coords = this.#lines[line]!
      const net = this.#pending[line]! + netCrossings(this.#position, position, coords)
      const direction = net > 0 ? 'up' : 'down'
      const last = this.#lastDirections[line]
      const isReturn = net !== 0 && last !== undefined && direction !== last
      const clearance = isReturn ? MIN_RETURN_CLEARANCE : MIN_CLEARANCE
      const isClear = distanceInBoxes(coords, position, bbox) >= clearance
      this.#pending[line] = isClear ? 0 : net
      if (!isClear || net === 0) continue
      this.#lastDirections[line] = direction
      crossed.push({ line, direction })
    }
    this.#position = position
    return crossed
  }
}
