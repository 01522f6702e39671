import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { TurnQueue } from './turn-queue.ts'

describe('turn queue', () => {
  it('admits one turn at a time, in the order of `enqueue`', async () => {
    const queue = new TurnQueue()
    const inside: number[] = []
    const order: number[] = []
    const pass = async (
      frame: number,
      turn: ReturnType<TurnQueue['enqueue']>,
      ticksBefore: number,
    ) => {
      for (let i = 0; i < ticksBefore; i++) await Promise.resolve()
      await turn.ready
      inside.push(frame)
      expect(inside).toEqual([frame])
      await Promise.resolve()
      inside.pop()
      order.push(frame)
      turn.finish()
    }
    await Promise.all([30, 20, 10, 0].map((ticks, i) => pass(i, queue.enqueue(), ticks)))
    expect(order).toEqual([0, 1, 2, 3])
  })

  it('preserves the order when a turn finishes before it begins', async () => {
    const queue = new TurnQueue()
    const first = queue.enqueue()
    const second = queue.enqueue()
    const third = queue.enqueue()
    const order: string[] = []
    second.finish()
    const passed = third.ready.then(() => order.push('third starts'))
    await setImmediate()
    order.push('first finishes')
    first.finish()
    await passed
    expect(order).toEqual(['first finishes', 'third starts'])
  })
})
