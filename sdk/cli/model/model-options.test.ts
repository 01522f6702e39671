import { describe, expect, it } from 'vitest'
import { UsageError } from '../command/command.ts'
import { parseFraction, parseModelOptions } from './model-options.ts'

describe('a fraction', () => {
  it.each([
    ['0.5', 0.5],
    ['-2', -2],
    ['1/255', 1 / 255],
    [' 1 / 4 ', 0.25],
  ])('is parsed from %j', (text, expected) => {
    expect(parseFraction(text)).toBe(expected)
  })

  it.each(['', '/', '1/', '/2', '1/0', '0/0', '1/2/3', 'one', '1/two', 'Infinity'])('is NaN for %j', text => {
    expect(parseFraction(text)).toBeNaN()
  })
})

describe('model options', () => {
  it.each(['1/', '1/0', '0', '1,2,3'])('reject the scale %s', async scale => {
    await expect(parseModelOptions({ scale })).rejects.toThrow(
      new UsageError(`--scale ${scale} should be a number other than 0`),
    )
  })

  it('parse one mean for all channels or one per channel', async () => {
    expect(await parseModelOptions({ mean: '127.5', std: '1/2,1,2' })).toEqual({
      normalization: { mean: [127.5], std: [0.5, 1, 2] },
    })
  })
})
