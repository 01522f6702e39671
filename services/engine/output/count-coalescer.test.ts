import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CountDraft, createCountCoalescer } from './count-coalescer.ts'

describe('count coalescer', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const collect = () => {
    const passed: CountDraft[] = []
    return { passed, coalescer: createCountCoalescer(count => passed.push(count)) }
  }

  test('publishes the first count at once', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1 } }))
    vi.advanceTimersByTime(100)
    coalescer.add(count(1, { door: { up: 2 } }))
    expect(passed.map(({ data }) => data)).toEqual([{ door: { up: 1 } }, { door: { up: 2 } }])
  })

  test('merges counts within 100 ms into one with the newest values', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1, total: 1 } }))
    coalescer.add(count(1, { door: { up: 2, total: 2 } }))
    coalescer.add(count(1, { door: { down: 1, total: 3 }, gate: { up: 7 } }))
    expect(passed).toHaveLength(1)
    vi.advanceTimersByTime(100)
    expect(passed[1]?.data).toEqual({ door: { up: 2, down: 1, total: 3 }, gate: { up: 7 } })
  })

  test('publishes at most one count per 100 ms', () => {
    const { passed, coalescer } = collect()
    for (let ms = 0; ms < 1000; ms += 10) {
      coalescer.add(count(1, { door: { up: ms } }))
      vi.advanceTimersByTime(10)
    }
    expect(passed).toHaveLength(11)
    expect(passed.at(-1)?.data).toEqual({ door: { up: 990 } })
  })

  test('merges only counts of the same 100 ms of the camera, even if they are analysed together', () => {
    const { passed, coalescer } = collect()
    for (const timeMs of [0, 80, 160, 240, 1000]) {
      coalescer.add(count(1, { door: { up: timeMs } }, timeMs))
    }
    vi.advanceTimersByTime(100)
    expect(passed.map(({ data }) => data.door?.up)).toEqual([0, 160, 240, 1000])
  })

  test('publishes the pending count of one channel on request, and continues to throttle', () => {
    const { passed, coalescer } = collect()
    for (const up of [1, 2]) {
      coalescer.add(count(1, { door: { up } }))
      coalescer.add(count(2, { door: { up } }))
    }
    coalescer.flushChannel(1)
    coalescer.flushChannel(1)
    coalescer.flushChannel(3)
    coalescer.add(count(1, { door: { up: 3 } }))
    expect(passed.map(({ channel, data }) => [channel, data.door?.up])).toEqual([
      [1, 1],
      [2, 1],
      [1, 2],
    ])
    vi.advanceTimersByTime(100)
    expect(passed.slice(3).map(({ channel, data }) => [channel, data.door?.up])).toEqual([
      [1, 3],
      [2, 2],
    ])
  })

  test('throttles each channel separately', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1 } }))
    coalescer.add(count(2, { door: { up: 1 } }))
    expect(passed.map(({ channel }) => channel)).toEqual([1, 2])
  })

  test('publishes pending counts on flush', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1 } }))
    coalescer.add(count(1, { door: { up: 2 } }))
    coalescer.flush()
    expect(passed.at(-1)?.data).toEqual({ door: { up: 2 } })
    expect(vi.getTimerCount()).toBe(0)
  })
})

function count(channel: number, data: CountDraft['data'], timeMs = 0): CountDraft {
  const time = new Date(timeMs).toISOString()
  return { kind: 'count', channel, source: 1, pipeline: 1, pts: 0, epoch: 1, time, data }
}
