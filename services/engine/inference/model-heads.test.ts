import { describe, expect, it } from 'vitest'
import { HEAD_DECODERS } from './model-heads.ts'

/** 32 x 32 pixels: 16 cells of stride 8, 4 of 16, 1 of 32; two classes. */
const yolox = (rows: Record<number, number[]>) => {
  const values = new Float32Array(21 * 7)
  for (const [row, columns] of Object.entries(rows)) values.set(columns, Number(row) * 7)
  return { values, classes: 2, inputWidth: 32, inputHeight: 32 }
}
const input = { classes: 2, inputWidth: 64, inputHeight: 64 }

describe('yolox head', () => {
  it('decodes boxes from cell, stride, offset and logarithmic size', () => {
    const size = [Math.log(2), Math.log(3)] as const
    const found = HEAD_DECODERS.yolox(
      yolox({
        // Row 1, column 2 at stride 8; row 1, column 0 at 16; the only one at 32.
        6: [0.5, 0.25, ...size, 0.8, 0.5, 0.75],
        18: [0.5, 0.5, 0, 0, 0.5, 1, 0],
        20: [0, 0, 0, 0, 1, 0.4, 0.3],
      }),
      0.3,
    )
    expect(found).toHaveLength(3)
    expect(found[0]).toMatchObject({ label: 1, score: expect.closeTo(0.6) })
    expect(found[0]).toMatchObject({
      x0: expect.closeTo(20 - 8, 4),
      x1: expect.closeTo(20 + 8, 4),
      y0: expect.closeTo(10 - 12, 4),
      y1: expect.closeTo(10 + 12, 4),
    })
    expect(found[1]).toEqual({ x0: 0, y0: 16, x1: 16, y1: 32, score: 0.5, label: 0 })
    expect(found[2]).toMatchObject({ x0: -16, y0: -16, x1: 16, y1: 16, label: 0 })
  })

  it('drops boxes whose objectness times class score is below the threshold', () => {
    const rows = yolox({ 0: [0, 0, 0, 0, 0.9, 0.3, 0.2], 1: [0, 0, 0, 0, 0.2, 1, 1] })
    expect(HEAD_DECODERS.yolox(rows, 0.3)).toEqual([])
  })

  it('visits the cells of a rectangular picture row by row', () => {
    const values = new Float32Array(42 * 7)
    values.set([0, 0, 0, 0, 1, 1, 0], 9 * 7)
    const [box] = HEAD_DECODERS.yolox({ values, classes: 2, inputWidth: 64, inputHeight: 32 }, 0.5)
    expect(box).toMatchObject({ x0: 8 - 4, y0: 8 - 4 })
  })
})

describe('decoded head', () => {
  it('reads centre and size', () => {
    const values = Float32Array.of(20, 30, 10, 4, 0.5, 0.25, 1, 20, 30, 10, 4, 0.5, 0.25, 0.5)
    const found = HEAD_DECODERS.decoded({ ...input, values }, 0.3)
    expect(found).toEqual([{ x0: 15, y0: 28, x1: 25, y1: 32, score: 0.5, label: 1 }])
  })
})

describe('nms head', () => {
  it('reads corners, score and class, and skips padding rows', () => {
    const rows = [
      [1, 2, 3, 4, 0.5, 1],
      [1, 2, 3, 4, 0.25, 1],
      [0, 0, 0, 0, 1, -1],
      [0, 0, 0, 0, 1, 2],
    ]
    const found = HEAD_DECODERS.nms({ ...input, values: Float32Array.from(rows.flat()) }, 0.3)
    expect(found).toEqual([{ x0: 1, y0: 2, x1: 3, y1: 4, score: 0.5, label: 1 }])
  })
})

it.each(Object.entries(HEAD_DECODERS))(
  '%s ignores rows whose score is not a number',
  (_head, decode) => {
    const values = new Float32Array(21 * 42).fill(Number.NaN)
    expect(decode({ values, classes: 1, inputWidth: 32, inputHeight: 32 }, 0)).toEqual([])
  },
)
