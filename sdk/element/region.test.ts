import { point } from '@eyrie/contract/object'
import { describe, expect, it } from 'vitest'
import {
  clipToPicture,
  cropToRegion,
  getCenter,
  isConvex,
  lines,
  quadrilateral,
  zones,
} from './region.ts'

const box = { x: 0.2, y: 0.4, w: 0.4, h: 0.2 }

describe('region', () => {
  it.each([
    ['box', { x: 0.2, y: 0.4, w: 0.4, h: 0.2 }],
    ['top', { x: 0.2, y: 0.4, w: 0.4, h: 0.05 }],
    ['bottom', { x: 0.2, y: 0.55, w: 0.4, h: 0.05 }],
    ['left', { x: 0.2, y: 0.4, w: 0.1, h: 0.2 }],
    ['right', { x: 0.5, y: 0.4, w: 0.1, h: 0.2 }],
    ['center', { x: 0.35, y: 0.475, w: 0.1, h: 0.05 }],
  ] as const)('crops a box to a quarter of its size: %s', (region, expected) => {
    const part = cropToRegion(box, region, 0.25)
    for (const side of ['x', 'y', 'w', 'h'] as const) {
      expect(part[side]).toBeCloseTo(expected[side], 12)
    }
  })

  it('clips a box to the picture', () => {
    const bottomRight = clipToPicture({ x: 0.9, y: 0.8, w: 0.2, h: 0.4 })
    expect(bottomRight.w).toBeCloseTo(0.1, 12)
    expect(bottomRight.h).toBeCloseTo(0.2, 12)
    expect(clipToPicture({ x: -0.5, y: -0.25, w: 1, h: 0.5 })).toEqual({
      x: 0,
      y: 0,
      w: 0.5,
      h: 0.25,
    })
    expect(clipToPicture({ x: 1.1, y: 0.2, w: 0.2, h: 0.2 })).toMatchObject({ x: 1, w: 0 })
    expect(clipToPicture(box).x).toBe(box.x)
  })

  it('returns the center of a box', () => {
    const center = getCenter(box)
    expect(center.x).toBeCloseTo(0.4, 12)
    expect(center.y).toBeCloseTo(0.5, 12)
  })

  it('requires two points for a line, three for a zone, and unique names', () => {
    const coords = [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
    ]
    expect(lines.safeParse([{ name: 'door', coords }]).success).toBe(true)
    expect(zones.safeParse([{ name: 'hall', coords }]).success).toBe(false)
    expect(
      lines.safeParse([
        { name: 'door', coords },
        { name: 'door', coords },
      ]).success,
    ).toBe(false)
  })

  const corners = (...all: [number, number][]) => all.map(([x, y]) => ({ x, y }))

  it.each([
    ['a square', corners([0, 0], [1, 0], [1, 1], [0, 1]), true],
    ['the same square in reverse order', corners([0, 1], [1, 1], [1, 0], [0, 0]), true],
    ['a street in perspective', corners([0.4, 0.3], [0.6, 0.3], [1, 0.9], [0, 0.9]), true],
    ['a square with crossing sides', corners([0, 0], [1, 1], [1, 0], [0, 1]), false],
    ['an arrow', corners([0, 0], [1, 0.5], [0, 1], [0.3, 0.5]), false],
    ['a triangle with a straight corner', corners([0, 0], [0.5, 0], [1, 0], [0.5, 1]), false],
    ['the same point four times', corners([0, 0], [0, 0], [0, 0], [0, 0]), false],
  ])('recognizes convex quadrilaterals: %s: %s', (_, four, convex) => {
    expect(isConvex(four)).toBe(convex)
    expect(quadrilateral(point, 'corners').safeParse(four).success).toBe(convex)
  })

  it('rejects a quadrilateral with five corners', () => {
    const five = corners([0, 0], [0.5, 0], [1, 0.5], [0.5, 1], [0, 1])
    expect(isConvex(five)).toBe(true)
    expect(quadrilateral(point, 'corners').safeParse(five).success).toBe(false)
  })
})
