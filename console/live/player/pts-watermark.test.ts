import { describe, expect, it } from 'vitest'
import { createPtsWatermark } from './pts-watermark.ts'

describe('pts watermark', () => {
  it('is the newest frame when frames arrive in presentation order', () => {
    const watermark = createPtsWatermark()
    expect(watermark.value()).toBeUndefined()
    for (const pts of [0, 3_000, 9_000]) {
      watermark.add({ pts, dts: pts })
      expect(watermark.value()).toBe(pts)
    }
  })

  it('grows evenly with B-frames and never passes a frame that has not arrived', () => {
    const watermark = createPtsWatermark()
    const decodingOrder = [1, 4, 2, 3, 7, 5, 6, 10, 8, 9]
    const values = decodingOrder.map((frame, decoded) => {
      watermark.add({ pts: frame * 3_000, dts: decoded * 3_000 })
      return watermark.value()! / 3_000
    })
    expect(values.slice(2)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    decodingOrder.forEach((_, decoded) => {
      const nextMissing = Math.min(...decodingOrder.slice(decoded + 1))
      expect(values[decoded]!).toBeLessThanOrEqual(nextMissing)
    })
  })

  it('considers only the offsets of recent frames', () => {
    const watermark = createPtsWatermark()
    watermark.add({ pts: -9_000, dts: 0 })
    for (let n = 1; n <= 100; n++) watermark.add({ pts: n * 3_000, dts: n * 3_000 })
    expect(watermark.value()).toBe(300_000)
  })
})
