import { describe, expect, it } from 'vitest'
import { brightCells, constantRows } from '../../test/fixtures/detectors.ts'
import { identityModel } from './onnx/identity.ts'
import { type ModelFacts, prepareModel } from './prepare.ts'
import { inputTensor, openSession, type Size } from './session.ts'

const size = { width: 64, height: 64 }
const bright: ModelFacts = { head: 'yolox', labels: ['bright'], license: 'Apache-2.0' }
const decoded: ModelFacts = { ...bright, head: 'decoded', labels: ['a', 'b'] }

const prepare = (file: Uint8Array, facts: ModelFacts = bright) => prepareModel('test', file, facts)

/** The rows that a prepared model finds on an even picture of one value. */
async function rowsOn({ bytes, card }: Awaited<ReturnType<typeof prepare>>, value: number, at: Size = size) {
  const session = await openSession(bytes)
  const tensor = inputTensor(card.input, at)
  ;(tensor.data as Uint8Array).fill(value)
  const output = Object.values(await session.run({ [card.input.name]: tensor }))[0]!
  await session.release()
  return { dims: output.dims, first: Array.from((output.data as Float32Array).subarray(0, 6)) }
}

describe('a model made ready for the store', () => {
  it('takes bytes where the file took floats', async () => {
    const prepared = await prepare(brightCells(size))
    expect(prepared.card.input).toMatchObject({ name: 'frame', dtype: 'uint8', layout: 'nchw', ...size })
    const { first } = await rowsOn(prepared, 51)
    expect(first[4]).toBeCloseTo(0.2)
  })

  it('normalises inside the graph', async () => {
    const normalization = { scale: 1 / 255, mean: [0.1, 0.2, 0.3], std: [0.5, 0.25, 0.125] }
    const prepared = await prepare(brightCells(size), { ...bright, normalization })
    const { first } = await rowsOn(prepared, 204)
    const channels = [0.7 / 0.5, 0.6 / 0.25, 0.5 / 0.125]
    expect(first[4]).toBeCloseTo((channels[0]! + channels[1]! + channels[2]!) / 3 / 255, 6)
  })

  it('takes pictures with interleaved colours too', async () => {
    const prepared = await prepare(brightCells({ ...size, layout: 'nhwc' }), {
      ...bright,
      normalization: { mean: [10, 20, 30] },
    })
    expect(prepared.card.input.layout).toBe('nhwc')
    expect((await rowsOn(prepared, 122)).first[4]).toBeCloseTo(102 / 255)
  })

  it.each(['initializers', 'nodes'] as const)(
    'works at other sizes if it is fully convolutional, with shapes in %s',
    async shapes => {
      const prepared = await prepare(brightCells({ ...size, shapes }))
      expect(prepared.card.input).toMatchObject({ dynamic: true, multiple_of: 32 })
      expect((await rowsOn(prepared, 0, { width: 96, height: 32 })).dims).toEqual([1, 12 * 4 + 6 * 2 + 3, 6])
    },
  )

  it('stays at its size if it is not', async () => {
    const prepared = await prepare(constantRows(size, [1, 1, 7], [32, 32, 10, 10, 0.9, 0.8, 0.1]), decoded)
    expect(prepared.card.input.dynamic).toBe(false)
  })

  it('names the file by its hash', async () => {
    const [one, again] = [await prepare(brightCells(size)), await prepare(brightCells(size))]
    expect(one.card.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(again.card.sha256).toBe(one.card.sha256)
  })
})

describe('what is no fitting model is refused with the reason:', () => {
  const rows = (dims: number[], values: number[]) => constantRows(size, dims, values)
  const file = brightCells(size)
  const cases: [what: string, file: Uint8Array, facts: ModelFacts, reason: RegExp][] = [
    ['text', Buffer.from('person\nbicycle\ncar\n'), bright, /not an ONNX model/],
    ['an empty file', new Uint8Array(), bright, /not an ONNX model/],
    ['half a file', file.subarray(0, file.length / 2), bright, /not an ONNX model|cannot load/],
    ['a model of no picture', identityModel(), bright, /input x is \[1\].*\[1, 3, height, width\]/],
    [
      'fewer labels than classes',
      rows([1, 1, 7], [1, 1, 1, 1, 1, 1, 1]),
      { ...decoded, labels: ['a'] },
      /2 classes, but 1 label/,
    ],
    [
      'an output of another rank',
      rows([7], [1, 1, 1, 1, 1, 1, 1]),
      decoded,
      /\[7\] has the wrong shape.*\[1, N, 7\]/,
    ],
    [
      'rows that do not fit the strides',
      rows([1, 1, 6], [1, 1, 1, 1, 1, 1]),
      bright,
      /1 rows; at 64x64 .* make 84/,
    ],
    ['scores without a sigmoid', rows([1, 1, 7], [1, 1, 1, 1, 4.2, 1, 1]), decoded, /4\.19.*sigmoid/],
    [
      'an nms head of seven columns',
      rows([1, 7], [1, 1, 1, 1, 1, 1, 1]),
      { ...decoded, head: 'nms' },
      /\[N, 6\]/,
    ],
    ['another size', file, { ...bright, size: { width: 96, height: 96 } }, /exported for 64x64/],
    [
      'classes suppressed that do not exist',
      file,
      { ...bright, suppress_together: [['bright', 'dark']] },
      /dark/,
    ],
  ]
  it.each(cases)('%s', async (_what, file, facts, reason) => {
    await expect(prepare(file, facts)).rejects.toThrow(reason)
  })
})
