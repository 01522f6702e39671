import { point } from '@eyrie/contract/object'
import { expect, test } from 'vitest'
import { centerOf, isConvex, lines, partOf, quadrilateral, withinPicture, zones } from './region.ts'

const box = { x: 0.2, y: 0.4, w: 0.4, h: 0.2 }

test.each([
  ['box', { x: 0.2, y: 0.4, w: 0.4, h: 0.2 }],
  ['top', { x: 0.2, y: 0.4, w: 0.4, h: 0.05 }],
  ['bottom', { x: 0.2, y: 0.55, w: 0.4, h: 0.05 }],
  ['left', { x: 0.2, y: 0.4, w: 0.1, h: 0.2 }],
  ['right', { x: 0.5, y: 0.4, w: 0.1, h: 0.2 }],
  ['center', { x: 0.35, y: 0.475, w: 0.1, h: 0.05 }],
] as const)('a quarter of a box: %s', (region, expected) => {
  const part = partOf(box, region, 0.25)
  for (const side of ['x', 'y', 'w', 'h'] as const) expect(part[side]).toBeCloseTo(expected[side], 12)
})

test('what of a box lies in the picture', () => {
  const bottomRight = withinPicture({ x: 0.9, y: 0.8, w: 0.2, h: 0.4 })
  expect(bottomRight.w).toBeCloseTo(0.1, 12)
  expect(bottomRight.h).toBeCloseTo(0.2, 12)
  expect(withinPicture({ x: -0.5, y: -0.25, w: 1, h: 0.5 })).toEqual({ x: 0, y: 0, w: 0.5, h: 0.25 })
  expect(withinPicture({ x: 1.1, y: 0.2, w: 0.2, h: 0.2 })).toMatchObject({ x: 1, w: 0 })
  expect(withinPicture(box).x).toBe(box.x)
})

test('the centre of a box', () => {
  const center = centerOf(box)
  expect(center.x).toBeCloseTo(0.4, 12)
  expect(center.y).toBeCloseTo(0.5, 12)
})

test('a line needs two points, a zone three, and a name is given once', () => {
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

test.each([
  ['a square', corners([0, 0], [1, 0], [1, 1], [0, 1]), true],
  ['the same the other way round', corners([0, 1], [1, 1], [1, 0], [0, 0]), true],
  ['a street seen from above', corners([0.4, 0.3], [0.6, 0.3], [1, 0.9], [0, 0.9]), true],
  ['a square whose corners were given crosswise', corners([0, 0], [1, 1], [1, 0], [0, 1]), false],
  ['an arrow', corners([0, 0], [1, 0.5], [0, 1], [0.3, 0.5]), false],
  ['a triangle with a point on its side', corners([0, 0], [0.5, 0], [1, 0], [0.5, 1]), false],
  ['one point four times', corners([0, 0], [0, 0], [0, 0], [0, 0]), false],
])('%s is a convex quadrilateral: %s', (_, four, convex) => {
  expect(isConvex(four)).toBe(convex)
  expect(quadrilateral(point, 'corners').safeParse(four).success).toBe(convex)
})

test('a quadrilateral has four corners', () => {
  const five = corners([0, 0], [0.5, 0], [1, 0.5], [0.5, 1], [0, 1])
  expect(isConvex(five)).toBe(true)
  expect(quadrilateral(point, 'corners').safeParse(five).success).toBe(false)
})
