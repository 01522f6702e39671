import type { Point } from '@eyrie/element'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { homographyBetween } from './homography.ts'

const unit = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const points = (...all: [number, number][]): Point[] => all.map(([x, y]) => ({ x, y }))

/** Corners near those of a square, moved, scaled and mirrored or not: convex, and never nearly flat. */
const quadrilateral = fc
  .record({
    moved: fc.array(fc.record({ x: unit(-0.2, 0.2), y: unit(-0.2, 0.2) }), { minLength: 4, maxLength: 4 }),
    scale: unit(0.1, 50),
    at: fc.record({ x: unit(-20, 20), y: unit(-20, 20) }),
    mirrored: fc.boolean(),
  })
  .map(({ moved, scale, at, mirrored }) => {
    const square = points([0, 0], [1, 0], [1, 1], [0, 1])
    const corners = square.map(({ x, y }, i) => ({
      x: at.x + scale * (x + moved[i]!.x),
      y: at.y + scale * (y + moved[i]!.y),
    }))
    return mirrored ? corners.toReversed() : corners
  })

/** A point inside a convex quadrilateral, by its shares of the corners. */
const shares = fc.array(unit(0.01, 1), { minLength: 4, maxLength: 4 })
function inside(corners: readonly Point[], weights: readonly number[]): Point {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const mean = (side: 'x' | 'y') => corners.reduce((sum, p, i) => sum + weights[i]! * p[side], 0) / total
  return { x: mean('x'), y: mean('y') }
}

const sizeOf = (corners: readonly Point[]) =>
  Math.hypot(corners[2]!.x - corners[0]!.x, corners[2]!.y - corners[0]!.y)

function expectNear(found: Point | undefined, expected: Point, scale: number) {
  expect(Math.hypot(found!.x - expected.x, found!.y - expected.y) / scale).toBeLessThan(1e-6)
}

test('takes each corner to its own', () => {
  fc.assert(
    fc.property(quadrilateral, quadrilateral, (from, to) => {
      const map = homographyBetween(from, to)
      for (const [i, corner] of from.entries()) expectNear(map(corner), to[i]!, sizeOf(to))
    }),
  )
})

test('the map back undoes it', () => {
  fc.assert(
    fc.property(quadrilateral, quadrilateral, shares, (from, to, weights) => {
      const point = inside(from, weights)
      const there = homographyBetween(from, to)(point)!
      expectNear(homographyBetween(to, from)(there), point, sizeOf(from))
    }),
  )
})

test('what is inside stays inside', () => {
  fc.assert(
    fc.property(quadrilateral, quadrilateral, shares, (from, to, weights) => {
      const there = homographyBetween(from, to)(inside(from, weights))!
      const sides = to.map((corner, i) => {
        const next = to[(i + 1) % 4]!
        return Math.sign(
          (next.x - corner.x) * (there.y - corner.y) - (next.y - corner.y) * (there.x - corner.x),
        )
      })
      expect(new Set(sides).size).toBe(1)
    }),
  )
})

test('straight lines stay straight', () => {
  fc.assert(
    fc.property(quadrilateral, quadrilateral, shares, shares, unit(0.1, 0.9), (from, to, one, other, t) => {
      const map = homographyBetween(from, to)
      const [a, b] = [inside(from, one), inside(from, other)]
      const between = { x: a.x + t * (b.x - a.x), y: a.y + t * (b.y - a.y) }
      const [p, q, r] = [map(a)!, map(between)!, map(b)!]
      const twiceArea = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
      expect(Math.abs(twiceArea) / sizeOf(to) ** 2).toBeLessThan(1e-6)
    }),
  )
})

test('it does not matter with which corner one begins', () => {
  fc.assert(
    fc.property(quadrilateral, quadrilateral, shares, fc.nat(3), (from, to, weights, turn) => {
      const turned = <T>(corners: T[]) => [...corners.slice(turn), ...corners.slice(0, turn)]
      const point = inside(from, weights)
      const there = homographyBetween(from, to)(point)!
      expectNear(homographyBetween(turned(from), turned(to))(point), there, sizeOf(to))
    }),
  )
})

test('a camera that looks straight down only scales', () => {
  fc.assert(
    fc.property(quadrilateral, shares, shares, unit(0.1, 30), (from, one, other, scale) => {
      const map = homographyBetween(
        from,
        from.map(({ x, y }) => ({ x: scale * x, y: scale * y })),
      )
      const [a, b] = [inside(from, one), inside(from, other)]
      const [p, q] = [map(a)!, map(b)!]
      const apart = Math.hypot(q.x - p.x, q.y - p.y) / (scale * sizeOf(from))
      expect(apart).toBeCloseTo(Math.hypot(b.x - a.x, b.y - a.y) / sizeOf(from), 6)
    }),
  )
})

/** A floor 4 m wide and 10 m deep, as a camera 3 m above its near edge sees it at the pitch 0 with the focal length 1. */
const project = (x: number, z: number): Point => ({ x: x / z, y: 3 / z })

test('finds places on a floor that a pinhole camera looks at', () => {
  const floor = points([-2, 5], [2, 5], [2, 15], [-2, 15])
  const map = homographyBetween(
    floor.map(({ x, y }) => project(x, y)),
    floor,
  )
  fc.assert(
    fc.property(unit(-10, 10), unit(2, 100), (x, z) => {
      expectNear(map(project(x, z)), { x, y: z }, z)
    }),
  )
  expect(map({ x: 0, y: -0.01 })).toBeUndefined()
  expect(map({ x: 0.3, y: -0.2 })).toBeUndefined()
})
