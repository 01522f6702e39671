import { expect, test } from 'vitest'
import { enlarged, overlap } from './overlap.ts'

const box = (x: number, y: number, w: number, h: number) => ({ x, y, w, h })

test.each([
  ['itself', box(0, 0, 2, 2), 1],
  ['one moved by half its width', box(1, 0, 2, 2), 1 / 3],
  ['a quarter of itself', box(0, 0, 1, 1), 1 / 4],
  ['one that shares a corner of it', box(1, 1, 2, 2), 1 / 7],
  ['one that touches it', box(2, 0, 2, 2), 0],
  ['one far away', box(5, 5, 2, 2), 0],
  ['one without extent', box(1, 1, 0, 0), 0],
])('a box overlaps %s', (_, other, share) => {
  expect(overlap(box(0, 0, 2, 2), other)).toBeCloseTo(share, 12)
})

test('a margin of half its size doubles a box about its middle', () => {
  expect(enlarged(box(1, 2, 2, 4), 0.5)).toEqual(box(0, 0, 4, 8))
})
