import { describe, expect, it } from 'vitest'
import { parseRegion, parseThresholds } from './infer-request.ts'

const call = (thresholds: unknown) => parseThresholds({ method: 'infer', model: 'm', thresholds })

describe('region of an inference', () => {
  it('is the whole picture by default, and is cut off at the borders of the picture', () => {
    expect(parseRegion(undefined)).toEqual({ x: 0, y: 0, w: 1, h: 1 })
    expect(parseRegion({ x: 0.25, y: 0.25, w: 0.5, h: 0.5 })).toEqual({
      x: 0.25,
      y: 0.25,
      w: 0.5,
      h: 0.5,
    })
    expect(parseRegion({ x: -0.5, y: 0.5, w: 1, h: 9 })).toEqual({ x: 0, y: 0.5, w: 0.5, h: 0.5 })
  })

  it.each([
    ['outside of the picture', { x: 1, y: 0, w: 1, h: 1 }],
    ['left of the picture', { x: -2, y: 0, w: 1, h: 1 }],
    ['empty', { x: 0.5, y: 0.5, w: 0, h: 0.5 }],
    ['of a negative size', { x: 0.5, y: 0.5, w: -0.5, h: 0.5 }],
  ])('is refused if it is %s', (_, region) => {
    expect(() => parseRegion(region)).toThrow(/is empty or outside of the picture/)
  })

  it.each([
    ['NaN', { x: Number.NaN, y: 0, w: 1, h: 1 }],
    ['null, as which NaN is sent', { x: null, y: 0, w: 1, h: 1 }],
    ['infinity', { x: 0, y: 0, w: Number.POSITIVE_INFINITY, h: 1 }],
    ['text', { x: '0', y: 0, w: 1, h: 1 }],
  ])('is refused if it has %s', (_, region) => {
    expect(() => parseRegion(region)).toThrow('the region must have the numbers x, y, w and h')
  })

  it.each([
    [null],
    ['all'],
    [[0, 0, 1, 1]],
    [{ x: 0, y: 0, w: 1 }],
    [{ x: 0, y: 0, w: 1, h: 1, n: 2 }],
  ])('is refused if it is %j', region => {
    expect(() => parseRegion(region)).toThrow('the region must have the numbers x, y, w and h')
  })
})

describe('thresholds of an inference', () => {
  it('are scores', () => {
    expect(call(undefined)).toEqual({})
    expect(call({ score_threshold: 0.5 })).toEqual({ score_threshold: 0.5 })
    for (const wrong of [{ score_threshold: 2 }, { score: 0.5 }, 'low', null]) {
      expect(() => call(wrong)).toThrow(/thresholds must have only/)
    }
  })
})
