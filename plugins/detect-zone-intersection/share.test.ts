import type { Point } from '@eyrie/element'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareInside } from './share.ts'

const polygon = (...corners: [number, number][]): Point[] => corners.map(([x, y]) => ({ x, y }))
const unit = { x: 0, y: 0, w: 1, h: 1 }

test.each([
  ['that holds it', polygon([-1, -1], [2, -1], [2, 2], [-1, 2]), 1],
  ['that is the same', polygon([0, 0], [1, 0], [1, 1], [0, 1]), 1],
  ['beside it', polygon([2, 0], [3, 0], [3, 1]), 0],
  ['that shares a side with it', polygon([1, 0], [2, 0], [2, 1], [1, 1]), 0],
  ['over its left half', polygon([-1, -1], [0.5, -1], [0.5, 2], [-1, 2]), 0.5],
  ['over one of its corners', polygon([0.5, 0.5], [2, 0.5], [2, 2], [0.5, 2]), 0.25],
  ['inside it', polygon([0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]), 0.25],
  ['of a triangle below its diagonal', polygon([0, 0], [1, 1], [0, 1]), 0.5],
  ['with a corner cut out of it', polygon([0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]), 0.75],
  [
    'like a comb, whose teeth alone reach into it',
    polygon([-1, -1], [2, -1], [2, 0.5], [0.75, 0.5], [0.75, -0.5], [0.25, -0.5], [0.25, 0.5], [-1, 0.5]),
    0.25,
  ],
])('the share of a square in a polygon %s', (_, corners, share) => {
  expect(shareInside(unit, corners)).toBeCloseTo(share, 12)
  expect(shareInside(unit, corners.toReversed())).toBeCloseTo(share, 12)
})

test('a rectangle without area is nowhere', () => {
  expect(shareInside({ x: 0.5, y: 0.5, w: 0, h: 0.1 }, polygon([0, 0], [1, 0], [1, 1], [0, 1]))).toBe(0)
})

const side = fc.double({ min: 0.01, max: 1, noNaN: true })
const start = fc.double({ min: -0.5, max: 1, noNaN: true })
const rectangle = fc.record({ x: start, y: start, w: side, h: side })

/** Star-shaped about the middle of the picture, so simple, and mostly concave. */
const star = fc
  .array(fc.double({ min: 0.05, max: 0.5, noNaN: true }), { minLength: 3, maxLength: 12 })
  .map(radii =>
    radii.map((r, i) => {
      const angle = (2 * Math.PI * i) / radii.length
      return { x: 0.5 + r * Math.cos(angle), y: 0.5 + r * Math.sin(angle) }
    }),
  )

function areaOf(corners: Point[]): number {
  const twice = corners.reduce(
    (sum, p, i) => sum + corners.at(i - 1)!.x * p.y - p.x * corners.at(i - 1)!.y,
    0,
  )
  return Math.abs(twice) / 2
}

test('what is inside is never more than the rectangle or the polygon', () => {
  fc.assert(
    fc.property(rectangle, star, (box, corners) => {
      const share = shareInside(box, corners)
      expect(share).toBeGreaterThanOrEqual(0)
      expect(share).toBeLessThanOrEqual(1)
      expect(share * box.w * box.h).toBeLessThanOrEqual(areaOf(corners) + 1e-12)
    }),
  )
})

test('the parts of a picture cut in two hold together as much of a polygon as the whole', () => {
  fc.assert(
    fc.property(star, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (corners, x) => {
      const left = shareInside({ x: 0, y: 0, w: x, h: 1 }, corners) * x
      const right = shareInside({ x, y: 0, w: 1 - x, h: 1 }, corners) * (1 - x)
      expect(left + right).toBeCloseTo(areaOf(corners), 10)
    }),
  )
})
