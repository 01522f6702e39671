import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Amount, Window } from './sliding-window.ts'

const amounts = fc
  .array(fc.record({ wait: fc.integer({ min: 0, max: 500 }), sum: fc.integer({ min: 0, max: 9 }) }), {
    maxLength: 50,
  })
  .map(given => {
    let at = 0
    return given.map(({ wait, sum }): Amount => {
      at += wait
      return { at, sum, count: 1 }
    })
  })

it('a window holds what was added within its length, however it began', () => {
  fc.assert(
    fc.property(amounts, fc.integer({ min: 1, max: 2000 }), fc.nat(50), (given, length, split) => {
      const [before, after] = [given.slice(0, split), given.slice(split)]
      const begin = after[0]?.at ?? 0
      const held = before.filter(({ at }) => at > begin - length)
      const total = { sum: held.reduce((sum, each) => sum + each.sum, 0), count: held.length }
      const window = new Window(length, total, held)
      after.forEach((amount, n) => {
        window.add(amount)
        const within = [...before, ...after.slice(0, n + 1)].filter(({ at }) => at > amount.at - length)
        expect(window.upTo(amount.at)).toEqual({
          sum: within.reduce((sum, each) => sum + each.sum, 0),
          count: within.length,
        })
      })
    }),
  )
})
