import type { Point } from '@eyrie/element'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeOverlapShare } from './polygon-overlap.ts'

const polygon = (...corners: [number, number][]): Point[] => corners.map(([x, y]) => ({ x, y }))
const unit = { x: 0, y: 0, w: 1, h: 1 }

describe('computeOverlapShare', () => {
  it.each([
    ['that contains it', polygon([-1, -1], [2, -1], [2, 2], [-1, 2]), 1],
    ['equal to it', polygon([0, 0], [1, 0], [1, 1], [0, 1]), 1],
    ['next to it', polygon([2, 0], [3, 0], [3, 1]), 0],
    ['adjacent to it', polygon([1, 0], [2, 0], [2, 1], [1, 1]), 0],
    ['over its left half', polygon([-1, -1], [0.5, -1], [0.5, 2], [-1, 2]), 0.5],
    ['over one of its corners', polygon([0.5, 0.5], [2, 0.5], [2, 2], [0.5, 2]), 0.25],
    ['inside it', polygon([0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]), 0.25],
    ['below its diagonal', polygon([0, 0], [1, 1], [0, 1]), 0.5],
    [
      'with a notch at a corner',
      polygon([0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]),
      0.75,
    ],
    [
      'that reaches into it with one tooth of a comb',
      polygon(
        [-1, -1],
        [2, -1],
        [2, 0.5],
        [0.75, 0.5],
        [0.75, -0.5],
        [0.25, -0.5],
        [0.25, 0.5],
        [-1, 0.5],
      ),
      0.25,
    ],
  ])('computes the share of a square inside a polygon %s', (_, corners, share) => {
    expect(computeOverlapShare(unit, corners)).toBeCloseTo(share, 12)
    expect(computeOverlapShare(unit, corners.toReversed())).toBeCloseTo(share, 12)
  })

  it('returns 0 for a rectangle without area', () => {
    expect(
      computeOverlapShare(
        { x: 0.5, y: 0.5, w: 0, h: 0.1 },
        polygon([0, 0], [1, 0], [1, 1], [0, 1]),
      ),
    ).toBe(0)
  })

  const side = fc.double({ min: 0.01, max: 1, noNaN: true })
  const start = fc.double({ min: -0.5, max: 1, noNaN: true })
  const rectangle = fc.record({ x: start, y: start, w: side, h: side })

  /** A star-shaped polygon around the center: simple and mostly concave. */
  const star = fc
    .array(fc.double({ min: 0.05, max: 0.5, noNaN: true }), { minLength: 3, maxLength: 12 })
    .map(radii =>
      radii.map((r, i) => {
        const angle = (2 * Math.PI * i) / radii.length
        return { x: 0.5 + r * Math.cos(angle), y: 0.5 + r * Math.sin(angle) }
      }),
    )

  function computeArea(corners: Point[]): number {
    const twice = corners.reduce(
      (sum, p, i) => sum + corners.at(i - 1)!.x * p.y - p.x * corners.at(i - 1)!.y,
      0,
    )
    return Math.abs(twice) / 2
  }

  it('never exceeds the rectangle or the polygon', () => {
    fc.assert(
      fc.property(rectangle, star, (box, corners) => {
        const share = computeOverlapShare(box, corners)
        expect(share).toBeGreaterThanOrEqual(0)
        expect(share).toBeLessThanOrEqual(1)
        expect(share * box.w * box.h).toBeLessThanOrEqual(computeArea(corners) + 1e-12)
      }),
    )
  })

  it('is additive over two halves of the picture', () => {
    fc.assert(
      fc.property(star, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (corners, x) => {
        const left = computeOverlapShare({ x: 0, y: 0, w: x, h: 1 }, corners) * x
        const right = computeOverlapShare({ x, y: 0, w: 1 - x, h: 1 }, corners) * (1 - x)
        expect(left + right).toBeCloseTo(computeArea(corners), 10)
      }),
    )
  })
})
