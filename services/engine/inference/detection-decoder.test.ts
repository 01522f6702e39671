import type { DetectedObject, Thresholds } from '@eyrie/element'
import { describe, expect, it } from 'vitest'
import { createDetectionDecoder } from './detection-decoder.ts'

const labels = ['person', 'car', 'truck']
const detect = createDetectionDecoder({
  head: 'nms',
  labels,
  suppress_together: [['car', 'truck']],
  score_threshold: 0.5,
  iou_threshold: 0.4,
  class_score_thresholds: { truck: 0.7 },
})
const whole = { x: 0, y: 0, width: 100, height: 100 }
const thresholds = { score_threshold: 0.3, iou_threshold: 0.3 }

const on = (rows: number[][], content = whole, limits: Thresholds = thresholds) =>
  detect(
    { values: Float32Array.from(rows.flat()), inputWidth: 100, inputHeight: 100 },
    content,
    limits,
  )
const summarize = (objects: DetectedObject[]) =>
  objects.map(object => [object.class, Math.round(object.score * 100)])
const found = (rows: number[][], limits?: Thresholds) => summarize(on(rows, whole, limits).objects)
const low = (rows: number[][], limits?: Thresholds) =>
  summarize(on(rows, whole, limits).lowScoreObjects)

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
    expect(on(rows).objects).toHaveLength(1000)
  })
})

describe('thresholds', () => {
  const at = (x: number, score: number, label: number) => [x, 0, x + 10, 10, score, label]

  it('are those of the model card unless the pipeline specifies others', () => {
    const rows = [at(0, 0.6, 1), at(20, 0.4, 1), at(40, 0.6, 2), at(60, 0.8, 2)]
    expect(found(rows, {})).toEqual([
      ['truck', 80],
      ['car', 60],
    ])
    expect(found(rows, { score_threshold: 0.55 })).toEqual([
      ['truck', 80],
      ['car', 60],
      ['truck', 60],
    ])
    const overlapping = [at(0, 0.9, 0), at(4, 0.8, 0)]
    expect(found(overlapping, {})).toHaveLength(1)
    expect(found(overlapping, { iou_threshold: 0.5 })).toHaveLength(2)
  })

  it.each([{}, { score_threshold: 0.3 }, { score_threshold: 0.9 }])(
    'pass the objects that they exclude on for trackers, from a score of 0.1 up: %j',
    limits => {
      const rows = [at(0, 0.95, 1), at(20, 0.2, 1), at(40, 0.1, 0), at(60, 0.09, 0)]
      expect(found(rows, limits)).toEqual([['car', 95]])
      expect(low(rows, limits)).toEqual([
        ['car', 20],
        ['person', 10],
      ])
    },
  )

  it('exclude nothing from a score of 0 up', () => {
    const rows = [at(0, 0.05, 1), at(20, 0, 1)]
    expect(found(rows, { score_threshold: 0 })).toHaveLength(2)
    expect(low(rows, { score_threshold: 0 })).toEqual([])
  })

  it('do not let an excluded object suppress a reported one', () => {
    const rows = [at(0, 0.65, 2), at(0, 0.6, 1), at(20, 0.65, 2)]
    expect(found(rows, {})).toEqual([['car', 60]])
    expect(low(rows, {})).toEqual([['truck', 65]])
  })
})

describe('detected boxes', () => {
  it('are mapped back from scaling and padding', () => {
    const letterboxed = { x: 0, y: 22, width: 100, height: 56 }
    const [object] = on([[25, 36, 75, 64, 0.5, 0]], letterboxed).objects
    expect(object).toEqual({
      class: 'person',
      score: 0.5,
      bbox: { x: 0.25, y: 0.25, w: 0.5, h: 0.5 },
    })
  })

  it('may extend beyond the picture', () => {
    const [object] = on([[-10, 50, 10, 110, 0.5, 0]]).objects
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
    expect(on(rows)).toEqual({ objects: [], lowScoreObjects: [] })
  })
})
