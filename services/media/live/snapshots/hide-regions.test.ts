import { describe, expect, it } from 'vitest'
import { hideRegions } from './hide-regions.ts'

const WIDTH = 80
const HEIGHT = 40

/** Every pixel differs from its neighbours. */
function picture() {
  const data = new Uint8Array(WIDTH * HEIGHT * 4)
  for (let i = 0; i < data.length; i++) data[i] = (i * 37 + (i >> 8) * 11) % 251
  return { data, width: WIDTH, height: HEIGHT }
}

const pixel = (data: Uint8Array, x: number, y: number) => [
  ...data.subarray((y * WIDTH + x) * 4, (y * WIDTH + x) * 4 + 3),
]

/** Number of different colours in a row from `from` to `to`. */
const countColours = (data: Uint8Array, y: number, from: number, to: number) =>
  new Set(Array.from({ length: to - from }, (_, i) => pixel(data, from + i, y).join())).size

describe('hidden regions', () => {
  it('reduces a region to a few blocks and leaves the rest unchanged', () => {
    const before = picture().data
    const after = hideRegions(picture(), [{ x: 0.25, y: 0.25, w: 0.5, h: 0.5 }])
    expect(countColours(after, 20, 16, 64)).toBeLessThanOrEqual(8)
    expect(countColours(before, 20, 16, 64)).toBeGreaterThan(40)
    for (const [x, y] of [
      [15, 20],
      [65, 20],
      [40, 7],
      [40, 33],
      [0, 0],
    ] as const) {
      expect(pixel(after, x, y)).toEqual(pixel(before, x, y))
    }
  })

  it('fills blocks with their mean colour', () => {
    const before = picture().data
    const after = hideRegions(picture(), [{ x: 0, y: 0, w: 2, h: 2 }])
    const sum = (data: Uint8Array, colour: number) =>
      data.reduce((all, value, i) => all + (i % 4 === colour ? value : 0), 0)
    for (const colour of [0, 1, 2]) {
      expect(sum(after, colour) / (WIDTH * HEIGHT)).toBeCloseTo(
        sum(before, colour) / (WIDTH * HEIGHT),
        0,
      )
    }
  })

  it.each([
    [{ x: -0.5, y: -0.5, w: 0.6, h: 0.6 }],
    [{ x: 0.9, y: 0.9, w: 5, h: 5 }],
    [{ x: 3, y: 3, w: 1, h: 1 }],
    [{ x: 0.5, y: 0.5, w: 0, h: 0 }],
  ])('clips the region %j to the picture', region => {
    expect(hideRegions(picture(), [region])).toHaveLength(WIDTH * HEIGHT * 4)
  })
})
