import { describe, expect, it } from 'vitest'
import { createReach } from './pts-watermark.ts'

describe('the reach of a stream', () => {
  it('is the newest picture where pictures come in the order in which they are shown', () => {
    const reach = createReach()
    expect(reach.pts()).toBeUndefined()
    for (const pts of [0, 3_000, 9_000]) {
      reach.add({ pts, dts: pts })
      expect(reach.pts()).toBe(pts)
    }
  })

  it('grows evenly through B-frames, and never beyond a picture that is still to come', () => {
    const reach = createReach()
    const shown = [1, 4, 2, 3, 7, 5, 6, 10, 8, 9]
    const reaches = shown.map((picture, decoded) => {
      reach.add({ pts: picture * 3_000, dts: decoded * 3_000 })
      return reach.pts()! / 3_000
    })
    expect(reaches.slice(2)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    shown.forEach((_, decoded) => {
      const toCome = Math.min(...shown.slice(decoded + 1))
      expect(reaches[decoded]!).toBeLessThanOrEqual(toCome)
    })
  })

  it('forgets how pictures were ordered long ago', () => {
    const reach = createReach()
    reach.add({ pts: -9_000, dts: 0 })
    for (let n = 1; n <= 100; n++) reach.add({ pts: n * 3_000, dts: n * 3_000 })
    expect(reach.pts()).toBe(300_000)
  })
})
