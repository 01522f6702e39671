import { describe, expect, it } from 'vitest'
import { createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import { fitView } from './view-fit.ts'

const hd = { width: 1920, height: 1080 }

describe('size of a view', () => {
  it('preserves the aspect ratio, rounded up, if one side is specified', () => {
    expect(fitView(createViewSpec({ format: 'RGBP', width: 416, multiple_of: 32 }), hd)).toEqual({
      width: 416,
      height: 256,
      content: { x: 0, y: 11, width: 416, height: 234 },
    })
    expect(fitView(createViewSpec({ format: 'RGBP', height: 256 }), hd)).toMatchObject({
      width: 455,
      height: 256,
    })
  })

  it('is exactly the specified size, with padding around the picture', () => {
    expect(fitView(createViewSpec({ format: 'RGB', width: 640, height: 640 }), hd)).toEqual({
      width: 640,
      height: 640,
      content: { x: 0, y: 140, width: 640, height: 360 },
    })
    expect(
      fitView(createViewSpec({ format: 'RGB', width: 640, height: 640 }), {
        width: 360,
        height: 640,
      }),
    ).toMatchObject({
      content: { x: 140, y: 0, width: 360, height: 640 },
    })
  })

  it('is filled by the stretched picture without letterbox', () => {
    expect(
      fitView(createViewSpec({ format: 'RGB', width: 640, height: 640, letterbox: false }), hd)
        .content,
    ).toEqual({
      x: 0,
      y: 0,
      width: 640,
      height: 640,
    })
  })

  it('is that of the scaled picture if no side is specified', () => {
    expect(fitView(createViewSpec({ format: 'GRAY8' }), hd)).toMatchObject(hd)
    expect(fitView(createViewSpec({ format: 'GRAY8', scale: 0.25 }), hd)).toMatchObject({
      width: 480,
      height: 270,
    })
    expect(fitView(createViewSpec({ format: 'GRAY8', scale: 0.001 }), hd)).toMatchObject({
      width: 2,
      height: 1,
    })
  })

  it('has no padding in JPEG', () => {
    expect(fitView(createViewSpec({ format: 'JPEG', width: 640, height: 640 }), hd)).toEqual({
      width: 640,
      height: 360,
      content: { x: 0, y: 0, width: 640, height: 360 },
    })
  })

  it('aligns I420 content to even pixels because chroma has half the resolution', () => {
    const { content } = fitView(createViewSpec({ format: 'I420', width: 416, multiple_of: 32 }), hd)
    expect(Object.values(content).map(value => value % 2)).toEqual([0, 0, 0, 0])
  })
})
