import { expect, it } from 'vitest'
import { Stage } from './stage.ts'

const backoff = { initialMs: 100, maxMs: 500 }
const opening = { size: undefined, ringOf: () => undefined }

it('is opened again after longer and longer waits while it keeps failing', async () => {
  const stage = new Stage({
    name: 'broken',
    stateless: false,
    open: async () => ({
      process: () => {
        throw new Error('boom')
      },
    }),
  })
  const waits: number[] = []
  for (let attempt = 1; attempt <= 4; attempt++) {
    await stage.open(opening)
    const frame = {
      n: 1,
      pts: 0,
      time: 0,
      discontinuity: false,
      width: 16,
      height: 9,
      objects: [],
      counters: {},
    }
    expect(await stage.process(frame)).toBe('failed')
    waits.push(stage.waitMs(backoff, () => 1))
  }
  expect(waits).toEqual([100, 200, 400, 500])
})

it('closes what it has opened, also when that is of no use', async () => {
  let closed = 0
  const stage = new Stage({
    name: 'wild',
    stateless: false,
    open: async () => ({ view: { format: 'XYZ' } as never, process: () => ({}), close: () => closed++ }),
  })
  await stage.open(opening)
  expect(stage.element).toBeUndefined()
  expect(closed).toBe(1)
})
