import { expect, it } from 'vitest'
import { backoffDelayMs } from './backoff.ts'

const backoff = { initialMs: 500, maxMs: 30_000 }

it('doubles the wait with every attempt up to the most', () => {
  const waits = [0, 1, 2, 3, 10, 1000].map(attempt => backoffDelayMs(attempt, backoff, () => 1))
  expect(waits).toEqual([500, 1000, 2000, 4000, 30_000, 30_000])
})

it('leaves the upper half of each wait to chance', () => {
  expect(backoffDelayMs(2, backoff, () => 0)).toBe(1000)
  expect(backoffDelayMs(2, backoff, () => 0.5)).toBe(1500)
})
