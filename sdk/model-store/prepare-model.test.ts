import { describe, expect, it } from 'vitest'
import {
  createBrightCellDetector,
  createConstantDetector,
} from '../../test/fixtures/engine/detector-models.ts'
import type { Size } from './head-output.ts'
import { createIdentityModel } from './onnx/identity.ts'
import { type ModelFacts, prepareModel } from './prepare-model.ts'
import { createInputTensor, openSession } from './session.ts'

const size = { width: 64, height: 64 }
const bright: ModelFacts = { head: 'yolox', labels: ['bright'], license: 'Apache-2.0' }
const decoded: ModelFacts = { ...bright, head: 'decoded', labels: ['a', 'b'] }

const prepare = (file: Uint8Array, facts: ModelFacts = bright) => prepareModel('test', file, facts)

/** Runs a prepared model on a uniform image. Returns the shape and the first row of its output. */
async function runOnUniformImage(
  { bytes, card }: Awaited<ReturnType<typeof prepare>>,
  value: number,
  at: Size = size,
) {
  const session = await openSession(bytes)
  const tensor = createInputTensor(card.input, at)
  ;(tensor.data as Uint8Array).fill(value)
  const output = Object.values(await session.run({ [card.input.name]: tensor }))[0]!
  await session.release()
  return { dims: output.dims, first: Array.from((output.data as Float32Array).subarray(0, 6)) }
}

describe('prepareModel', () => {
  it('converts a float input to bytes', async () => {
    const prepared = await prepare(createBrightCellDetector(size))
    expect(prepared.card.input).toMatchObject({
      name: 'frame',
      dtype: 'uint8',
      layout: 'nchw',
      ...size,
    })
    const { first } = await runOnUniformImage(prepared, 51)
    expect(first[4]).toBeCloseTo(0.2)
  })

  it('adds the normalization to the graph', async () => {
    const normalization = { scale: 1 / 255, mean: [0.1, 0.2, 0.3], std: [0.5, 0.25, 0.125] }
    const prepared = await prepare(createBrightCellDetector(size), { ...bright, normalization })
    const { first } = await runOnUniformImage(prepared, 204)
    const channels = [0.7 / 0.5, 0.6 / 0.25, 0.5 / 0.125]
    expect(first[4]).toBeCloseTo((channels[0]! + channels[1]! + channels[2]!) / 3 / 255, 6)
  })

  it('accepts interleaved pixels', async () => {
    const prepared = await prepare(createBrightCellDetector({ ...size, layout: 'nhwc' }), {
      ...bright,
      normalization: { mean: [10, 20, 30] },
    })
    expect(prepared.card.input.layout).toBe('nhwc')
    expect((await runOnUniformImage(prepared, 122)).first[4]).toBeCloseTo(102 / 255)
  })

  it.each(['initializers', 'nodes'] as const)(
    'makes the size of a fully convolutional model dynamic, with shapes in %s',
    async shapes => {
      const prepared = await prepare(createBrightCellDetector({ ...size, shapes }))
      expect(prepared.card.input).toMatchObject({ dynamic: true, multiple_of: 32 })
      expect((await runOnUniformImage(prepared, 0, { width: 96, height: 32 })).dims).toEqual([
        1,
        12 * 4 + 6 * 2 + 3,
        6,
      ])
    },
  )

  it('leaves the size of other models fixed', async () => {
    const prepared = await prepare(
      createConstantDetector(size, [1, 1, 7], [32, 32, 10, 10, 0.9, 0.8, 0.1]),
      decoded,
    )
    expect(prepared.card.input.dynamic).toBe(false)
  })

  it('records the same hash for the same file', async () => {
    const [one, again] = [
      await prepare(createBrightCellDetector(size)),
      await prepare(createBrightCellDetector(size)),
    ]
    expect(one.card.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(again.card.sha256).toBe(one.card.sha256)
  })
})

describe('prepareModel rejects with the reason:', () => {
  const rows = (dims: number[], values: number[]) => createConstantDetector(size, dims, values)
  const file = createBrightCellDetector(size)
  const cases: [problem: string, file: Uint8Array, facts: ModelFacts, reason: RegExp][] = [
    ['text', Buffer.from('person\nbicycle\ncar\n'), bright, /not an ONNX model/],
    ['an empty file', new Uint8Array(), bright, /not an ONNX model/],
    [
      'a truncated file',
      file.subarray(0, file.length / 2),
      bright,
      /not an ONNX model|cannot load/,
    ],
    [
      'a model without an image input',
      createIdentityModel(),
      bright,
      /input x is \[1\].*\[1, 3, height, width\]/,
    ],
    [
      'fewer labels than classes',
      rows([1, 1, 7], [1, 1, 1, 1, 1, 1, 1]),
      { ...decoded, labels: ['a'] },
      /2 classes, but the number of labels is 1/,
    ],
    [
      'an output of the wrong rank',
      rows([7], [1, 1, 1, 1, 1, 1, 1]),
      decoded,
      /\[7\] has the wrong shape.*\[1, N, 7\]/,
    ],
    [
      'a number of rows that does not match the strides',
      rows([1, 1, 6], [1, 1, 1, 1, 1, 1]),
      bright,
      /1 rows; at 64x64 .* make 84/,
    ],
    [
      'scores without a sigmoid',
      rows([1, 1, 7], [1, 1, 1, 1, 4.2, 1, 1]),
      decoded,
      /4\.19.*sigmoid/,
    ],
    [
      'an nms head with seven columns',
      rows([1, 7], [1, 1, 1, 1, 1, 1, 1]),
      { ...decoded, head: 'nms' },
      /\[N, 6\]/,
    ],
    [
      'a size other than the exported one',
      file,
      { ...bright, size: { width: 96, height: 96 } },
      /exported for 64x64/,
    ],
    [
      'suppression of unknown classes',
      file,
      { ...bright, suppress_together: [['bright', 'dark']] },
      /dark/,
    ],
  ]
  it.each(cases)('%s', async (_, file, facts, reason) => {
    await expect(prepare(file, facts)).rejects.toThrow(reason)
  })
})
