import fc from 'fast-check'
import { expect, test } from 'vitest'
import { merge } from './merge.ts'

const region = (x: number, y: number, w: number, h: number, moving = w * h) => ({ x, y, w, h, moving })

test('regions that overlap become one, with all that moves in them', () => {
  expect(merge([region(0, 0, 10, 10, 60), region(5, 5, 10, 10, 40)], 0)).toEqual([region(0, 0, 15, 15, 100)])
})

test('a small gap is closed, a wide one is not', () => {
  const parts = [region(0, 0, 10, 10), region(13, 0, 10, 10)]
  expect(merge(parts, 3)).toEqual([region(0, 0, 23, 10, 200)])
  expect(merge(parts, 2)).toEqual(parts)
})

test('what lies between two regions joins them', () => {
  const [left, right, between] = [region(0, 0, 10, 10), region(20, 0, 10, 10), region(8, 0, 14, 10)]
  expect(merge([left, right, between], 0)).toEqual([region(0, 0, 30, 10, 340)])
})

test('in the end no two regions are near each other, and nothing that moves is lost', () => {
  const side = fc.integer({ min: 1, max: 20 })
  const corner = fc.integer({ min: 0, max: 100 })
  const regions = fc.array(
    fc.record({ x: corner, y: corner, w: side, h: side, moving: fc.integer({ min: 1, max: 400 }) }),
    { maxLength: 15 },
  )
  fc.assert(
    fc.property(regions, fc.integer({ min: 0, max: 10 }), (parts, gap) => {
      const whole = merge(parts, gap)
      expect(merge(whole, gap)).toHaveLength(whole.length)
      const sum = (all: { moving: number }[]) => all.reduce((total, { moving }) => total + moving, 0)
      expect(sum(whole)).toBe(sum(parts))
    }),
  )
})
