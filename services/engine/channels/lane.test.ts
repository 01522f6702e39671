import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Lane } from './lane.ts'

it('lets one in at a time, in the order of the places, however long each has been on its way', async () => {
  const lane = new Lane()
  const inside: number[] = []
  const order: number[] = []
  const pass = async (frame: number, turn: ReturnType<Lane['take']>, ticksBefore: number) => {
    for (let i = 0; i < ticksBefore; i++) await Promise.resolve()
    await turn.come
    inside.push(frame)
    expect(inside).toEqual([frame])
    await Promise.resolve()
    inside.pop()
    order.push(frame)
    turn.leave()
  }
  await Promise.all([30, 20, 10, 0].map((ticks, i) => pass(i, lane.take(), ticks)))
  expect(order).toEqual([0, 1, 2, 3])
})

it('lets one leave before its turn has come, and still nobody past those before it', async () => {
  const lane = new Lane()
  const [first, second, third] = [lane.take(), lane.take(), lane.take()]
  const order: string[] = []
  second.leave()
  const passed = third.come.then(() => order.push('third comes'))
  await setImmediate()
  order.push('first leaves')
  first.leave()
  await passed
  expect(order).toEqual(['first leaves', 'third comes'])
})
