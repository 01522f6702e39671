import { describe, expect, test } from 'vitest'
import { createOrder } from './order.ts'

const FRAME = 3600

const ordered = (frames: number[]) => {
  const order = createOrder()
  return frames.map(frame => order.next(frame * FRAME))
}

describe('the order of pictures', () => {
  test('is that of their times, which are left as they are', () => {
    expect(ordered([0, 1, 2, 4, 9])).toEqual([0, 1, 2, 4, 9].map(frame => frame * FRAME))
  })

  test('is another one with B-frames', () => {
    const shown = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]
    expect(ordered(shown)).toContain(undefined)
  })

  test('is the same after a clock was put right, and time never goes back', () => {
    const frames = [0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5, 4.5]
    const newest = 3 * FRAME
    expect(ordered(frames)).toEqual([
      ...[0, FRAME, 2 * FRAME, newest],
      ...[newest + 1, newest + 2, newest + 3],
      ...[3.5 * FRAME, 4.5 * FRAME],
    ])
    const often = Array.from({ length: 20 }, (_, i) => [i * 100, i * 100 + 1, i * 100 + 0.5]).flat()
    expect(ordered(often)).not.toContain(undefined)
  })
})
