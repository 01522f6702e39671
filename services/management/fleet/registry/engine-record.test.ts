import { describe, expect, it } from 'vitest'
import { retryDelayMs } from './engine-record.ts'

const retry = { disable_backoff: false, times: 0, wait_base: 1000 }
const failures = Array.from({ length: 30 }, (_, index) => index + 1)
const findMaxDelay = (settings = retry, hasResponded = true) =>
  Math.max(...failures.map(count => retryDelayMs(count, settings, { hasResponded })))

describe('delay before the next connection attempt to an engine', () => {
  it('is at most 15 seconds once the engine has answered', () => {
    expect(findMaxDelay()).toBeLessThanOrEqual(15_000)
    expect(findMaxDelay()).toBeGreaterThanOrEqual(7_500)
  })

  it('grows to five minutes if the engine has never answered', () => {
    expect(findMaxDelay(retry, false)).toBeLessThanOrEqual(300_000)
    expect(findMaxDelay(retry, false)).toBeGreaterThanOrEqual(150_000)
  })

  it('is never shorter than half of a configured delay above the limit', () => {
    const patient = { ...retry, wait_base: 60_000 }
    expect(findMaxDelay(patient)).toBeLessThanOrEqual(60_000)
    expect(findMaxDelay(patient)).toBeGreaterThanOrEqual(30_000)
  })

  it('is constant without back-off, and endless after the last attempt', () => {
    expect(findMaxDelay({ ...retry, disable_backoff: true })).toBe(1000)
    expect(retryDelayMs(3, { ...retry, times: 3 }, { hasResponded: true })).toBe(
      Number.POSITIVE_INFINITY,
    )
  })
})
