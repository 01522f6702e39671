import type { ModelCard } from '@eyrie/contract/model'
import { describe, expect, it } from 'vitest'
import { findRingMismatch, toModelView } from './model-view.ts'

const fixed: ModelCard['input'] = {
  name: 'frame',
  layout: 'nchw',
  color: 'bgr',
  dtype: 'uint8',
  width: 320,
  height: 240,
  dynamic: false,
  multiple_of: 32,
  fill: 114,
}
const dynamic = { ...fixed, width: 416, height: 416, dynamic: true }

describe('model view', () => {
  it('has the size of a model with a fixed size', () => {
    const view = {
      width: 320,
      height: 240,
      multiple_of: 1,
      format: 'BGRP',
      letterbox: true,
      fill: 114,
    }
    expect(toModelView(fixed)).toEqual(view)
    expect(toModelView(fixed, { width: 1280, height: 720 })).toEqual(view)
  })

  it('preserves the aspect ratio for a model of dynamic size', () => {
    expect(toModelView(dynamic)).toEqual({
      width: 416,
      multiple_of: 32,
      format: 'BGRP',
      letterbox: true,
      fill: 114,
    })
  })

  it('has the requested size, rounded up to a multiple that the model accepts', () => {
    expect(toModelView(dynamic, { width: 640, height: 360 })).toMatchObject({
      width: 640,
      height: 384,
    })
    expect(toModelView(dynamic, { scale: 0.5 })).toMatchObject({ scale: 0.5, multiple_of: 32 })
  })

  it.each([
    ['nchw', 'rgb', 'RGBP'],
    ['nchw', 'bgr', 'BGRP'],
    ['nhwc', 'rgb', 'RGB'],
    ['nhwc', 'bgr', 'BGR'],
  ] as const)('is of the format that a model of %s %s reads: %s', (layout, color, format) => {
    expect(toModelView({ ...fixed, layout, color }).format).toBe(format)
  })
})

describe('ring mismatch', () => {
  const ring = { width: 416, height: 256, format: 'BGRP', payloadSize: 3 * 416 * 256 }
  it.each([
    ['of another format', dynamic, { ...ring, format: 'RGB' }, /416x256 RGB.*reads BGRP/],
    ['of another size', fixed, ring, /only 320x240/],
    [
      'of an odd size',
      dynamic,
      { ...ring, height: 250, payloadSize: 3 * 416 * 250 },
      /multiples of 32/,
    ],
    ['with padded rows', dynamic, { ...ring, payloadSize: 1 }, /of 1 bytes/],
  ] as const)('is described: %s', (_case, input, shape, reason) => {
    expect(findRingMismatch(input, shape)).toMatch(reason)
  })

  it('is undefined for a matching ring', () => {
    expect(findRingMismatch(dynamic, ring)).toBeUndefined()
    expect(
      findRingMismatch(fixed, { ...ring, width: 320, height: 240, payloadSize: 3 * 320 * 240 }),
    ).toBeUndefined()
  })
})
