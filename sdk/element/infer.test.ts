import { describe, expect, it } from 'vitest'
import { cosineSimilarity, findLargest, getOutput, type ModelResult, softmax } from './infer.ts'

const result = (...names: string[]): ModelResult => ({
  outputs: Object.fromEntries(
    names.map(name => [
      name,
      { type: 'float32', dims: [1, 1], data: Float32Array.of(names.indexOf(name)) },
    ]),
  ),
  objects: [],
})

describe('result of a model', () => {
  it('has outputs by name, of which the only one needs no name', () => {
    expect(getOutput(result('scores')).data[0]).toBe(0)
    expect(getOutput(result('a', 'b'), 'b').data[0]).toBe(1)
    expect(() => getOutput(result('a', 'b'))).toThrow(
      'the model has the outputs a, b: name one of them',
    )
    expect(() => getOutput(result('a'), 'b')).toThrow('the model has no output b, but a')
    expect(() => getOutput(result())).toThrow('the model has the outputs none')
  })

  it('is converted to probabilities, the best class and the similarity of embeddings', () => {
    expect([...softmax(Float32Array.of(1000, 1000))]).toEqual([0.5, 0.5])
    expect(softmax(Float32Array.of(0, Math.log(3)))[1]).toBeCloseTo(0.75)
    expect(findLargest(Float32Array.of(Number.NaN, -2, 5, 5))).toBe(2)
    expect(findLargest(new Float32Array())).toBe(-1)
    expect(cosineSimilarity([1, 2], [2, 4])).toBeCloseTo(1)
    expect(cosineSimilarity([1, 0], [0, 1])).toBe(0)
    expect(cosineSimilarity([0, 0], [0, 1])).toBe(0)
  })
})
