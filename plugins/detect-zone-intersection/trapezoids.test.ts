import type { Point } from '@eyrie/element'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeOverlapShare } from './polygon-overlap.ts'
import { splitIntoTrapezoids } from './trapezoids.ts'

const polygon = (...corners: [number, number][]): Point[] => corners.map(([x, y]) => ({ x, y }))

/** Returns the area of the parts within the unit square. */
const computeArea = (corners: Point[]): number => {
  const unit = { x: 0, y: 0, w: 1, h: 1 }
  return splitIntoTrapezoids(corners).reduce(
    (sum, part) => sum + computeOverlapShare(unit, part),
    0,
  )
}

describe('splitIntoTrapezoids', () => {
  it.each([
    ['a square', polygon([0, 0], [1, 0], [1, 1], [0, 1]), 1],
    ['a triangle', polygon([0, 0], [1, 0.5], [0, 1]), 0.5],
    ['a square with a corner that is repeated', polygon([0, 0], [1, 0], [1, 0], [1, 1], [0, 1]), 1],
    ['a line', polygon([0, 0], [1, 1], [0.5, 0.5]), 0],
    ['a horizontal line', polygon([0, 0.5], [1, 0.5], [0.5, 0.5]), 0],
    ['a bow tie', polygon([0, 0], [1, 1], [1, 0], [0, 1]), 0.5],
    [
      'a bow tie with a corner where it crosses itself',
      polygon([0, 0], [0.5, 0.5], [1, 1], [1, 0], [0.5, 0.5], [0, 1]),
      0.5,
    ],
    [
      'a square that is surrounded twice',
      polygon([0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [1, 0], [1, 1], [0, 1]),
      1,
    ],
    [
      'a square with a loop inside',
      polygon([0, 0], [1, 0], [1, 1], [0.2, 1], [0.2, 0.5], [0.6, 0.5], [0.6, 0.8], [0, 0.8]),
      1 - 0.2 * 0.2,
    ],
  ])('covers %s', (_, corners, area) => {
    expect(computeArea(corners)).toBeCloseTo(area, 12)
    expect(computeArea(corners.toReversed())).toBeCloseTo(area, 12)
  })

  it('keeps a rectangle, and both halves of a bow tie, in as few parts as possible', () => {
    expect(splitIntoTrapezoids(polygon([0, 0], [1, 0], [1, 1], [0, 1]))).toHaveLength(1)
    expect(splitIntoTrapezoids(polygon([0, 0], [1, 1], [0, 1], [1, 0]))).toHaveLength(2)
  })

  it('rejects an outline that crosses itself very often', () => {
    /** A star whose outline connects each point with one that is almost opposite. */
    const star = (points: number): Point[] =>
      Array.from({ length: points }, (_, i) => {
        const angle = (2 * Math.PI * i * Math.floor(points / 2)) / points
        return { x: 0.5 + Math.cos(angle) / 2, y: 0.5 + Math.sin(angle) / 2 }
      })
    expect(() => splitIntoTrapezoids(star(31))).not.toThrow()
    expect(() => splitIntoTrapezoids(star(199))).toThrow(/crosses itself \d+ times/)
  })

  const coordinate = fc.integer({ min: 0, max: 20 }).map(steps => steps / 20)
  const corners = fc.array(fc.record({ x: coordinate, y: coordinate }), {
    minLength: 3,
    maxLength: 12,
  })

  /** Returns how often the outline winds around a point that is not on it. */
  function countWindings({ x, y }: Point, outline: Point[]): number {
    let windings = 0
    for (const [i, to] of outline.entries()) {
      const from = outline.at(i - 1)!
      if (from.y > y === to.y > y) continue
      const crossingX = from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x)
      if (crossingX > x) windings += to.y > from.y ? 1 : -1
    }
    return windings
  }

  it('covers each point once that the outline winds around, and no other', () => {
    const offset = fc.integer({ min: 0, max: 99 })
    fc.assert(
      fc.property(corners, offset, offset, (outline, columns, rows) => {
        // No side passes through a point so far from round numbers.
        const point = { x: (columns + 0.4142) / 100, y: (rows + 0.3179) / 100 }
        const parts = splitIntoTrapezoids(outline)
        const covering = parts.filter(part => countWindings(point, part) !== 0)
        expect(covering).toHaveLength(countWindings(point, outline) === 0 ? 0 : 1)
      }),
      { numRuns: 500 },
    )
  })
})
