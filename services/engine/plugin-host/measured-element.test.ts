import type { Element, Frame } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { expect, it } from 'vitest'
import { createMeasuredElement } from './measured-element.ts'

const frame: Frame = {
  ...{ n: 1, pts: 0, time: 0, discontinuity: false, width: 16, height: 9 },
  ...{ objects: [], lowScoreObjects: [], counters: {} },
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

/** A measured element with this `process`, and its reported costs. */
function measuring(process: Element['process']) {
  const costs: number[] = []
  return { costs, element: createMeasuredElement({ process }, ms => costs.push(ms)) }
}

it('measures the CPU time of a frame until its first await', async () => {
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

it('propagates errors of the element', async () => {
  const { costs, element } = measuring(() => {
    throw new FrameDroppedError(1)
  })
  expect(() => element.process(frame)).toThrow(FrameDroppedError)
  expect(costs).toHaveLength(1)
})

it('measures every frame at first and a sample later', async () => {
  const { costs, element } = measuring(() => ({}))
  for (let n = 1; n <= 100; n += 1) await element.process({ ...frame, n })
  expect(costs).toHaveLength(100)
  for (let n = 101; n <= 1000; n += 1) await element.process({ ...frame, n })
  expect(costs.length).toBeGreaterThan(110)
  expect(costs.length).toBeLessThan(250)
})
