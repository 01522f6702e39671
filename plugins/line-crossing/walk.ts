import type { BBox, Point } from '@eyrie/element'
import { netCrossings } from './crossing.ts'
import { boxesFrom } from './distance.ts'

export type Direction = 'up' | 'down'

/** Nearer to a line than this, in sizes of its box, an object may merely tremble. */
const margin = 0.05

/** The way of one object past the lines. */
export class Walk {
  readonly #lines: readonly (readonly Point[])[]
  #at: Point
  /** For each line the crossings since the object was last clear of it. */
  readonly #net: number[]

  constructor(lines: readonly (readonly Point[])[], start: Point) {
    this.#lines = lines
    this.#at = start
    this.#net = lines.map(() => 0)
  }

  /**
   * Goes on to the next position and gives the lines, by their index, that have now been crossed. Steps to and fro over
   * a line cancel out; their sum is read once the object is clear of it.
   */
  step(to: Point, bbox: BBox): { line: number; direction: Direction }[] {
    const crossed: { line: number; direction: Direction }[] = []
    for (let line = 0; line < this.#lines.length; line += 1) {
      const coords = this.#lines[line]!
      const net = this.#net[line]! + netCrossings(this.#at, to, coords)
      const clear = boxesFrom(coords, to, bbox) >= margin
      this.#net[line] = clear ? 0 : net
      if (clear && net !== 0) crossed.push({ line, direction: net > 0 ? 'up' : 'down' })
    }
    this.#at = to
    return crossed
  }
}
