import { describe, expect, it } from 'vitest'
import { ResultLimits } from './result-limits.ts'

const events = (count: number) => ({ events: Array(count).fill({ type: 'x' }) })

describe('result limits', () => {
  it.each([
    [{ objects: Array(1001) }, /1001 objects/],
    [{ lowScoreObjects: Array(1001) }, /1001 objects/],
    [
      { counters: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [i, {}])) },
      /1001 counters/,
    ],
    [events(101), /101 events for a frame/],
  ])('reject a result that is too large', (result, reason) => {
    expect(new ResultLimits(0).check(result, 0)).toMatch(reason)
  })

  it('permit a burst of events, but no flood', () => {
    const limits = new ResultLimits(0)
    const checks = Array.from({ length: 11 }, () => limits.check(events(100), 0))
    expect(checks).toEqual([
      ...Array(10).fill(undefined),
      'it reports more than 50 events per second',
    ])
    expect(limits.check(events(100), 1000)).toMatch(/50 events per second/)
    expect(limits.check(events(100), 2000)).toBeUndefined()
  })

  it('leave the rest to the validation that follows', () => {
    for (const result of [null, undefined, 1, 'text', {}, { events: 'text' }, { objects: null }]) {
      expect(new ResultLimits(0).check(result, 0)).toBeUndefined()
    }
  })
})
