import { describe, expect, it } from 'vitest'
import { Stage } from './stage.ts'

const backoff = { initialMs: 100, maxMs: 500 }
const opening = { size: undefined, findRing: () => undefined }

describe('stage', () => {
  it('waits longer before each reopening while it keeps failing', async () => {
    const stage = new Stage({
      name: 'broken',
      isStateless: false,
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
        lowScoreObjects: [],
        counters: {},
      }
      expect(await stage.process(frame)).toBe('failed')
      waits.push(stage.retryDelayMs(backoff, () => 1))
    }
    expect(waits).toEqual([100, 200, 400, 500])
  })

  it('closes an element that opened with an invalid view', async () => {
    let closed = 0
    const stage = new Stage({
      name: 'wild',
      isStateless: false,
      open: async () => ({
        view: { format: 'XYZ' } as never,
        process: () => ({}),
        close: () => closed++,
      }),
    })
    await stage.open(opening)
    expect(stage.element).toBeUndefined()
    expect(closed).toBe(1)
  })
})
