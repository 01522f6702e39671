import { expect, test } from 'vitest'
import { centerOf, lines, partOf, withinPicture, zones } from './region.ts'

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
