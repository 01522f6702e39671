import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SlidingWindow, type TimedAmount } from './sliding-window.ts'

const amountsInOrder = fc
  .array(
    fc.record({ delayMs: fc.integer({ min: 0, max: 500 }), sum: fc.integer({ min: 0, max: 9 }) }),
    {
      maxLength: 50,
    },
  )
  .map(steps => {
    let timeMs = 0
    return steps.map(({ delayMs, sum }): TimedAmount => {
      timeMs += delayMs
      return { timeMs, sum, count: 1 }
    })
  })

const toTotals = (amounts: readonly TimedAmount[]) => ({
  sum: amounts.reduce((sum, amount) => sum + amount.sum, 0),
  count: amounts.length,
})

describe('sliding window', () => {
  it('contains the amounts of its length for any initial content', () => {
    fc.assert(
      fc.property(
        amountsInOrder,
        fc.integer({ min: 1, max: 2000 }),
        fc.nat(50),
        (amounts, length, split) => {
          const before = amounts.slice(0, split)
          const after = amounts.slice(split)
          const start = after[0]?.timeMs ?? 0
          const initial = before.filter(({ timeMs }) => timeMs > start - length)
          const window = new SlidingWindow(length, toTotals(initial), initial)
          after.forEach((amount, index) => {
            window.add(amount)
            const within = [...before, ...after.slice(0, index + 1)].filter(
              ({ timeMs }) => timeMs > amount.timeMs - length,
            )
            expect(window.advanceTo(amount.timeMs)).toEqual(toTotals(within))
          })
        },
      ),
    )
  })
})
