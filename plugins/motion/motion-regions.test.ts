import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeRegions } from './motion-regions.ts'

const region = (x: number, y: number, w: number, h: number, movingPixels = w * h) => ({
  x,
  y,
  w,
  h,
  movingPixels,
})

describe('mergeRegions', () => {
  it('merges overlapping regions and adds their moving pixels', () => {
    expect(mergeRegions([region(0, 0, 10, 10, 60), region(5, 5, 10, 10, 40)], 0)).toEqual([
      region(0, 0, 15, 15, 100),
    ])
  })

  it('merges across gaps up to the maximum', () => {
    const parts = [region(0, 0, 10, 10), region(13, 0, 10, 10)]
    expect(mergeRegions(parts, 3)).toEqual([region(0, 0, 23, 10, 200)])
    expect(mergeRegions(parts, 2)).toEqual(parts)
  })

  it('merges two regions connected by a third', () => {
    const [left, right, between] = [
      region(0, 0, 10, 10),
      region(20, 0, 10, 10),
      region(8, 0, 14, 10),
    ]
    expect(mergeRegions([left, right, between], 0)).toEqual([region(0, 0, 30, 10, 340)])
  })

  it('leaves no adjacent regions and loses no moving pixels', () => {
    const side = fc.integer({ min: 1, max: 20 })
    const corner = fc.integer({ min: 0, max: 100 })
    const regions = fc.array(
      fc.record({
        x: corner,
        y: corner,
        w: side,
        h: side,
        movingPixels: fc.integer({ min: 1, max: 400 }),
      }),
      { maxLength: 15 },
    )
    fc.assert(
      fc.property(regions, fc.integer({ min: 0, max: 10 }), (parts, gap) => {
        const merged = mergeRegions(parts, gap)
        expect(mergeRegions(merged, gap)).toHaveLength(merged.length)
        const sum = (all: { movingPixels: number }[]) =>
          all.reduce((total, { movingPixels }) => total + movingPixels, 0)
        expect(sum(merged)).toBe(sum(parts))
      }),
    )
  })
})
