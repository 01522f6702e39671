import { describe, expect, it } from 'vitest'
import { createDetectionDecoder } from './detection-decoder.ts'

const labels = ['person', 'car', 'truck']
const detect = createDetectionDecoder({ head: 'nms', labels, suppress_together: [['car', 'truck']] })
const whole = { x: 0, y: 0, width: 100, height: 100 }
const thresholds = { score_threshold: 0.3, iou_threshold: 0.3 }

const on = (rows: number[][], content = whole, limits = thresholds) =>
  detect({ values: Float32Array.from(rows.flat()), inputWidth: 100, inputHeight: 100 }, content, limits)
const found = (rows: number[][], limits = thresholds) =>
  on(rows, whole, limits).map(object => [object.class, Math.round(object.score * 100)])

describe('overlap suppression', () => {
  const box = [0, 0, 10, 10]
  /** Overlaps `box` by 6 of 14: 0.43. */
  const shifted = [4, 0, 14, 10]

  it('keeps the best of overlapping boxes of one class', () => {
    expect(
      found([
        [...shifted, 0.5, 0],
        [...box, 0.9, 0],
      ]),
    ).toEqual([['person', 90]])
  })

  it('keeps boxes that overlap no more than the threshold', () => {
    const both = [
      [...box, 0.9, 0],
      [...shifted, 0.5, 0],
    ]
    expect(found(both, { ...thresholds, iou_threshold: 0.5 })).toHaveLength(2)
    expect(found(both, { ...thresholds, iou_threshold: 0.4 })).toHaveLength(1)
  })

  it('keeps boxes of different classes', () => {
    expect(
      found([
        [...box, 0.9, 0],
        [...box, 0.8, 1],
      ]),
    ).toHaveLength(2)
  })

  it('treats classes that the card combines as one', () => {
    expect(
      found([
        [...box, 0.8, 1],
        [...box, 0.9, 2],
      ]),
    ).toEqual([['truck', 90]])
  })

  it('does not let a suppressed box suppress others', () => {
    const chain = [
      [0, 0, 10, 10, 0.9, 0],
      [4, 0, 14, 10, 0.8, 0],
      [8, 0, 18, 10, 0.7, 0],
    ]
    expect(found(chain)).toEqual([
      ['person', 90],
      ['person', 70],
    ])
  })

  it('is fast even with thousands of boxes', () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => [i, 0, i + 1, 1, 0.5 + i / 1e6, 0])
    expect(on(rows)).toHaveLength(1000)
  })
})

describe('detected boxes', () => {
  it('are mapped back from scaling and padding', () => {
    const letterboxed = { x: 0, y: 22, width: 100, height: 56 }
    const [object] = on([[25, 36, 75, 64, 0.5, 0]], letterboxed)
    expect(object).toEqual({ class: 'person', score: 0.5, bbox: { x: 0.25, y: 0.25, w: 0.5, h: 0.5 } })
  })

  it('may extend beyond the picture', () => {
    const [object] = on([[-10, 50, 10, 110, 0.5, 0]])
    expect(object?.bbox.x).toBeCloseTo(-0.1)
    expect(object?.bbox.h).toBeCloseTo(0.6)
  })

  it('are never inverted, empty or infinite', () => {
    const { NaN: none, POSITIVE_INFINITY: endless } = Number
    const rows = [
      [9, 0, 1, 5, 0.9, 0],
      [1, 1, 1, 5, 0.9, 0],
      [0, 0, endless, 5, 0.9, 0],
      [none, 0, 5, 5, 0.9, 0],
    ]
    expect(on(rows)).toEqual([])
  })
})
