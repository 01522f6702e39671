import { expect, it } from 'vitest'
import { quantile } from './quantile.ts'

it('quantile returns the value at a share of the sorted values, and 0 without values', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect([quantile(hundred, 0.5), quantile(hundred, 0.95), quantile(hundred, 1)]).toEqual([
    51, 96, 100,
  ])
  expect([quantile([7], 0.95), quantile([], 0.95)]).toEqual([7, 0])
})
