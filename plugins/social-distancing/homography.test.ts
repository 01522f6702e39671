import type { Point } from '@eyrie/element'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeHomography } from './homography.ts'

const unit = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const points = (...all: [number, number][]): Point[] => all.map(([x, y]) => ({ x, y }))

/**
 * A distorted, translated, scaled and optionally mirrored square: always convex and never
 * degenerate.
 */
const quadrilateral = fc
  .record({
    moved: fc.array(fc.record({ x: unit(-0.2, 0.2), y: unit(-0.2, 0.2) }), {
      minLength: 4,
      maxLength: 4,
    }),
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

/** Weights of the corners that define a point inside a convex quadrilateral. */
const shares = fc.array(unit(0.01, 1), { minLength: 4, maxLength: 4 })
function interpolate(corners: readonly Point[], weights: readonly number[]): Point {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const mean = (side: 'x' | 'y') =>
    corners.reduce((sum, p, i) => sum + weights[i]! * p[side], 0) / total
  return { x: mean('x'), y: mean('y') }
}

const diagonal = (corners: readonly Point[]) =>
  Math.hypot(corners[2]!.x - corners[0]!.x, corners[2]!.y - corners[0]!.y)

function expectNear(actual: Point | undefined, expected: Point, scale: number) {
  expect(Math.hypot(actual!.x - expected.x, actual!.y - expected.y) / scale).toBeLessThan(1e-6)
}

describe('computeHomography', () => {
  it('maps each corner to its counterpart', () => {
    fc.assert(
      fc.property(quadrilateral, quadrilateral, (from, to) => {
        const map = computeHomography(from, to)
        for (const [i, corner] of from.entries()) expectNear(map(corner), to[i]!, diagonal(to))
      }),
    )
  })

  it('is inverted by swapping the arguments', () => {
    fc.assert(
      fc.property(quadrilateral, quadrilateral, shares, (from, to, weights) => {
        const point = interpolate(from, weights)
        const mapped = computeHomography(from, to)(point)!
        expectNear(computeHomography(to, from)(mapped), point, diagonal(from))
      }),
    )
  })

  it('maps the interior to the interior', () => {
    fc.assert(
      fc.property(quadrilateral, quadrilateral, shares, (from, to, weights) => {
        const mapped = computeHomography(from, to)(interpolate(from, weights))!
        const sides = to.map((corner, i) => {
          const next = to[(i + 1) % 4]!
          return Math.sign(
            (next.x - corner.x) * (mapped.y - corner.y) -
              (next.y - corner.y) * (mapped.x - corner.x),
          )
        })
        expect(new Set(sides).size).toBe(1)
      }),
    )
  })

  it('preserves straight lines', () => {
    fc.assert(
      fc.property(
        quadrilateral,
        quadrilateral,
        shares,
        shares,
        unit(0.1, 0.9),
        (from, to, one, other, t) => {
          const map = computeHomography(from, to)
          const [a, b] = [interpolate(from, one), interpolate(from, other)]
          const between = { x: a.x + t * (b.x - a.x), y: a.y + t * (b.y - a.y) }
          const [p, q, r] = [map(a)!, map(between)!, map(b)!]
          const twiceArea = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
          expect(Math.abs(twiceArea) / diagonal(to) ** 2).toBeLessThan(1e-6)
        },
      ),
    )
  })

  it('does not depend on the first corner', () => {
    fc.assert(
      fc.property(quadrilateral, quadrilateral, shares, fc.nat(3), (from, to, weights, turn) => {
        const turned = <T>(corners: T[]) => [...corners.slice(turn), ...corners.slice(0, turn)]
        const point = interpolate(from, weights)
        const mapped = computeHomography(from, to)(point)!
        expectNear(computeHomography(turned(from), turned(to))(point), mapped, diagonal(to))
      }),
    )
  })

  it('is a similarity for a scaled quadrilateral', () => {
    fc.assert(
      fc.property(quadrilateral, shares, shares, unit(0.1, 30), (from, one, other, scale) => {
        const map = computeHomography(
          from,
          from.map(({ x, y }) => ({ x: scale * x, y: scale * y })),
        )
        const [a, b] = [interpolate(from, one), interpolate(from, other)]
        const [p, q] = [map(a)!, map(b)!]
        const apart = Math.hypot(q.x - p.x, q.y - p.y) / (scale * diagonal(from))
        expect(apart).toBeCloseTo(Math.hypot(b.x - a.x, b.y - a.y) / diagonal(from), 6)
      }),
    )
  })

  /** Projects a floor point into a horizontal camera 3 m above the floor with focal length 1. */
  const project = (x: number, z: number): Point => ({ x: x / z, y: 3 / z })

  it('recovers floor positions seen by a pinhole camera', () => {
    const floor = points([-2, 5], [2, 5], [2, 15], [-2, 15])
    const map = computeHomography(
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
})
