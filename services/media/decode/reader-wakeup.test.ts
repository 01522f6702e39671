import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wakeWhenNeeded } from './reader-wakeup.ts'

const frame = (n: number) =>
  ({ n, pts: 3000 * n, timeUs: 0 }) as Parameters<ReturnType<typeof wakeWhenNeeded>['frame']>[0]

describe('waking a reader that has to see every frame', () => {
  test('is left out while it has half a ring to read, and made up for when it says how far it is', () => {
    const told: number[] = []
    const wake = wakeWhenNeeded(8, ({ n }) => told.push(n))
    wake.readUpTo(0)
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) wake.frame(frame(n), n === 1)
    expect(told).toEqual([1, 2, 3, 4])
    wake.readUpTo(2)
    expect(told).toEqual([1, 2, 3, 4, 8])
  })

  test('is never left out for who does not say how far it is', () => {
    const told: number[] = []
    const wake = wakeWhenNeeded(4, ({ n }) => told.push(n))
    for (const n of [1, 2, 3, 4, 5, 6]) wake.frame(frame(n), n === 1)
    expect(told).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('never waits with the first frame of a session', () => {
    const told: [number, boolean][] = []
    const wake = wakeWhenNeeded(4, ({ n }, first) => told.push([n, first]))
    for (const n of [1, 2, 3]) wake.frame(frame(n), n === 1)
    wake.frame(frame(4), true)
    expect(told.at(-1)).toEqual([4, true])
  })

  test('never leaves writer and reader waiting for one another', () => {
    const steps = fc.array(fc.constantFrom('write', 'read'), { minLength: 200, maxLength: 400 })
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 32 }), steps, (slots, schedule) => {
        let [written, told, read, granted] = [0, 0, 0, slots]
        const wake = wakeWhenNeeded(slots, ({ n }) => {
          told = n
        })
        wake.readUpTo(0)
        const write = () => {
          if (written === granted) return false
          written += 1
          wake.frame(frame(written), written === 1)
          return true
        }
        const readOne = () => {
          if (read >= told) return false
          read += 1
          if (read + slots - granted < Math.ceil(slots / 4)) return true
          granted = read + slots
          wake.readUpTo(read)
          return true
        }
        for (const step of schedule) step === 'write' ? write() : readOne()
        while (written < 500 && (write() || readOne()));
        expect(written).toBe(500)
      }),
    )
  })
})
