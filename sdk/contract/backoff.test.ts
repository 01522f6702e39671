import { describe, expect, it } from 'vitest'
import { backoffDelayMs } from './backoff.ts'

const backoff = { initialMs: 500, maxMs: 30_000 }

describe('back-off', () => {
  it('doubles the delay with each attempt up to the maximum', () => {
    const delays = [0, 1, 2, 3, 10, 1000].map(attempt => backoffDelayMs(attempt, backoff, () => 1))
    expect(delays).toEqual([500, 1000, 2000, 4000, 30_000, 30_000])
  })

  it('randomises the upper half of the delay', () => {
    expect(backoffDelayMs(2, backoff, () => 0)).toBe(1000)
    expect(backoffDelayMs(2, backoff, () => 0.5)).toBe(1500)
  })
})
