import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestRing } from '../../../../test/fixtures/media/test-ring.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { RingReader } from '../../frames/ring-reader.ts'
import { type CropInput, fitCrop, placeCrop, readCrop, toPixelRect } from './crop-input.ts'
import { resample } from './resample.ts'

const input: CropInput = {
  ...{ name: 'pixels', layout: 'nhwc', color: 'rgb', dtype: 'uint8' },
  ...{ width: 4, height: 4, fill: 7, fit: 'letterbox' },
}
const size = { width: 8, height: 4 }

describe('region of a picture', () => {
  it('covers whole pixels inside of the picture, at least one', () => {
    expect(toPixelRect({ x: 0, y: 0, w: 1, h: 1 }, size)).toEqual({
      x: 0,
      y: 0,
      width: 8,
      height: 4,
    })
    expect(toPixelRect({ x: 0.3, y: 0.3, w: 0.3, h: 0.3 }, size)).toEqual({
      x: 2,
      y: 1,
      width: 3,
      height: 2,
    })
    expect(toPixelRect({ x: 1 - 1e-9, y: 0, w: 1e-9, h: 1e-9 }, size)).toEqual({
      ...{ x: 7, y: 0, width: 1, height: 1 },
    })
  })

  it('is read from its frame, unless the frame was overwritten', () => {
    const ring = createTestRing(join(createTemporaryFolder(), 'ring'), {
      ...size,
      format: 'RGB',
      payloadSize: 96,
    })
    onTestFinished(ring.close)
    // The red value of a pixel is its position.
    ring.write(
      3,
      Uint8Array.from({ length: 96 }, (_, i) => (i % 3 === 0 ? i / 3 : 0)),
    )
    const reader = new RingReader(ring.path)
    onTestFinished(() => reader.close())
    const crop = readCrop(reader, 3, { x: 2, y: 1, width: 3, height: 2 })
    expect([...crop].filter((_, i) => Number(i) % 3 === 0)).toEqual([10, 11, 12, 18, 19, 20])
    expect(readCrop(reader, 7, { x: 0, y: 0, width: 8, height: 4 })).toBe('overwritten')
  })

  it('is centred in the input of a model, or stretched to it', () => {
    expect(placeCrop(size, input)).toEqual({ x: 0, y: 1, width: 4, height: 2 })
    expect(placeCrop({ width: 1, height: 1000 }, input)).toEqual({
      x: 1,
      y: 0,
      width: 1,
      height: 4,
    })
    expect(placeCrop(size, { ...input, fit: 'stretch' })).toEqual({
      x: 0,
      y: 0,
      width: 4,
      height: 4,
    })
  })

  it('has the layout and order of colours of the input, with a border in the colour fill', () => {
    const red = Uint8Array.from({ length: 96 }, (_, i) => (i % 3 === 0 ? 200 : 0))
    const { pixels } = fitCrop(red, size, input)
    expect([...pixels.subarray(0, 12)]).toEqual(Array(12).fill(7))
    expect([...pixels.subarray(12, 18)]).toEqual([200, 0, 0, 200, 0, 0])
    const planar = fitCrop(red, size, { ...input, layout: 'nchw', color: 'bgr' }).pixels
    expect([planar[4], planar[16 + 4], planar[32 + 4]]).toEqual([0, 0, 200])
    expect([planar[0], planar[16], planar[32]]).toEqual([7, 7, 7])
  })
})

describe('scaling', () => {
  const grey = (values: number[]) => Uint8Array.from(values.flatMap(value => [value, value, value]))
  const scale = (values: number[], to: number) =>
    [
      ...resample(
        grey(values),
        { width: values.length, height: 1 },
        { width: to, height: 1 },
      ).filter((_, i) => i % 3 === 0),
    ].map(Math.round)

  it('keeps a picture of the same size, and uniform pictures of any size', () => {
    expect(scale([1, 50, 200], 3)).toEqual([1, 50, 200])
    expect(scale(Array(7).fill(99), 3)).toEqual([99, 99, 99])
    expect(scale([99, 99], 5)).toEqual(Array(5).fill(99))
  })

  it('interpolates between pixels, and uses all pixels when it reduces', () => {
    // As Pillow does with BILINEAR.
    expect(scale([0, 100], 4)).toEqual([0, 25, 75, 100])
    expect(scale([0, 0, 0, 240], 1)).toEqual([50])
    expect(
      scale([0, 200, 0, 200, 0, 200, 0, 200], 2).every(value => value > 80 && value < 120),
    ).toBe(true)
  })
})
