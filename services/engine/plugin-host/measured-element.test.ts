import type { Element, Frame } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { expect, it } from 'vitest'
import { measured } from './measured-element.ts'

const frame: Frame = {
  ...{ n: 1, pts: 0, time: 0, discontinuity: false, width: 16, height: 9 },
  ...{ objects: [], counters: {} },
}

/** Most of it is the system's time on some machines: what is done is to ask the system. */
function compute(ms: number): void {
  const before = process.threadCpuUsage()
  const computed = () => {
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  }
  while (computed() < ms * 1000);
}

/** An element that does this with a frame, and the costs that are told of it. */
function measuring(process: Element['process']) {
  const costs: number[] = []
  return { costs, element: measured({ process }, ms => costs.push(ms)) }
}

it('tells the CPU time of a frame, without what comes after waiting', async () => {
  const { costs, element } = measuring(async () => {
    compute(20)
    await new Promise(resolve => setImmediate(resolve))
    compute(150)
    return { counters: { seen: { frames: 1 } } }
  })
  expect(await element.process(frame)).toEqual({ counters: { seen: { frames: 1 } } })
  expect(costs).toHaveLength(1)
  expect(costs[0]).toBeGreaterThanOrEqual(20)
  expect(costs[0]).toBeLessThan(150)
})

it('lets through what the element throws', async () => {
  const { costs, element } = measuring(() => {
    throw new FrameDroppedError(1)
  })
  expect(() => element.process(frame)).toThrow(FrameDroppedError)
  expect(costs).toHaveLength(1)
})

it('tells it of every frame while an average is made, and of some later', async () => {
  const { costs, element } = measuring(() => ({}))
  for (let n = 1; n <= 100; n += 1) await element.process({ ...frame, n })
  expect(costs).toHaveLength(100)
  for (let n = 101; n <= 1000; n += 1) await element.process({ ...frame, n })
  expect(costs.length).toBeGreaterThan(110)
  expect(costs.length).toBeLessThan(250)
})
