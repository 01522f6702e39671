import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wakeOnDemand } from './reader-wakeup.ts'

const frame = (n: number) =>
  ({ n, pts: 3000 * n, timeUs: 0 }) as Parameters<ReturnType<typeof wakeOnDemand>['onFrame']>[0]

describe('wake-up of readers that must read every frame', () => {
  it('is postponed while half a ring is unread, until the reader reports progress', () => {
    const notified: number[] = []
    const wakeup = wakeOnDemand(8, ({ n }) => notified.push(n))
    wakeup.readUpTo(0)
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) wakeup.onFrame(frame(n), n === 1)
    expect(notified).toEqual([1, 2, 3, 4])
    wakeup.readUpTo(2)
    expect(notified).toEqual([1, 2, 3, 4, 8])
  })

  it('is never postponed before a reader reports progress', () => {
    const notified: number[] = []
    const wakeup = wakeOnDemand(4, ({ n }) => notified.push(n))
    for (const n of [1, 2, 3, 4, 5, 6]) wakeup.onFrame(frame(n), n === 1)
    expect(notified).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('is never postponed for the first frame of a session', () => {
    const notified: [number, boolean][] = []
    const wakeup = wakeOnDemand(4, ({ n }, isFirst) => notified.push([n, isFirst]))
    for (const n of [1, 2, 3]) wakeup.onFrame(frame(n), n === 1)
    wakeup.onFrame(frame(4), true)
    expect(notified.at(-1)).toEqual([4, true])
  })

  it('never deadlocks the writer and the reader', () => {
    const steps = fc.array(fc.constantFrom('write', 'read'), { minLength: 200, maxLength: 400 })
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 32 }), steps, (slots, schedule) => {
        let written = 0
        let notified = 0
        let read = 0
        let granted = slots
        const wakeup = wakeOnDemand(slots, ({ n }) => {
          notified = n
        })
        wakeup.readUpTo(0)
        const write = () => {
          if (written === granted) return false
          written += 1
          wakeup.onFrame(frame(written), written === 1)
          return true
        }
        const readOne = () => {
          if (read >= notified) return false
          read += 1
          if (read + slots - granted < Math.ceil(slots / 4)) return true
          granted = read + slots
          wakeup.readUpTo(read)
          return true
        }
        for (const step of schedule) step === 'write' ? write() : readOne()
        while (written < 500 && (write() || readOne()));
        expect(written).toBe(500)
      }),
    )
  })
})
