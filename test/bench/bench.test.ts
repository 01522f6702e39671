import { describe, expect, it } from 'vitest'
import { judge, median } from './bench.ts'

const atMostTwo = { limit: { max: 2 } }
const measurement = { samples: [1, 2, 3], loads: [], detail: '' }

describe('judge', () => {
  it('compares the median of the samples with a maximum', () => {
    expect(judge(atMostTwo, measurement)).toEqual({ outcome: 'ok', value: 2 })
    expect(judge({ limit: { max: 1.9 } }, measurement)).toEqual({ outcome: 'over', value: 2 })
  })

  it('compares the median of the samples with a minimum', () => {
    expect(judge({ limit: { min: 2 } }, measurement)).toEqual({ outcome: 'ok', value: 2 })
    expect(judge({ limit: { min: 2.1 } }, measurement)).toEqual({ outcome: 'over', value: 2 })
  })

  it('rejects a measurement without samples', () => {
    expect(judge(atMostTwo, { ...measurement, samples: [] })).toEqual({
      outcome: 'invalid',
      reason: 'no samples',
    })
  })

  it.each([[0 / 0], [1 / 0], [-1 / 0], [1 / (1 / 0)]])(
    'rejects a sample of %d, even where the median is finite',
    broken => {
      const verdict = judge(atMostTwo, { ...measurement, samples: [1, 1, broken] })
      expect(verdict).toEqual({ outcome: 'invalid', reason: `one sample is ${broken}` })
    },
  )

  it('accepts a count of 0', () => {
    const lostNothing = { ...measurement, samples: [0] }
    expect(judge({ limit: { max: 0 }, isCount: true }, lostNothing)).toEqual({
      outcome: 'ok',
      value: 0,
    })
  })

  it.each([9.9, Number.NaN, 1 / 0])(
    'rejects samples that were taken under a load of %d instead of 10',
    actual => {
      const loads = [{ name: 'frames per second', min: 10, actual }]
      expect(judge(atMostTwo, { ...measurement, loads })).toEqual({
        outcome: 'invalid',
        reason: `frames per second: ${actual.toFixed(2)} instead of at least 10`,
      })
    },
  )
})

describe('median', () => {
  it('is the mean of the two middle values of an even number of values', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  it('throws when there are no values', () => {
    expect(() => median([])).toThrow(RangeError)
  })
})
