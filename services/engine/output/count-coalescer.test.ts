import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CountDraft, createCoalescer } from './count-coalescer.ts'

describe('counts of a channel', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const collect = () => {
    const passed: CountDraft[] = []
    return { passed, coalescer: createCoalescer(count => passed.push(count)) }
  }

  test('go out at once when none has gone out just before', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1 } }))
    vi.advanceTimersByTime(100)
    coalescer.add(count(1, { door: { up: 2 } }))
    expect(passed.map(({ data }) => data)).toEqual([{ door: { up: 1 } }, { door: { up: 2 } }])
  })

  test('are united within 100 ms into one with the newest values', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1, total: 1 } }))
    coalescer.add(count(1, { door: { up: 2, total: 2 } }))
    coalescer.add(count(1, { door: { down: 1, total: 3 }, gate: { up: 7 } }))
    expect(passed).toHaveLength(1)
    vi.advanceTimersByTime(100)
    expect(passed[1]?.data).toEqual({ door: { up: 2, down: 1, total: 3 }, gate: { up: 7 } })
  })

  test('never go out more than once in 100 ms, however many come', () => {
    const { passed, coalescer } = collect()
    for (let ms = 0; ms < 1000; ms += 10) {
      coalescer.add(count(1, { door: { up: ms } }))
      vi.advanceTimersByTime(10)
    }
    expect(passed).toHaveLength(11)
    expect(passed.at(-1)?.data).toEqual({ door: { up: 990 } })
  })

  test('do not wait for those of another channel', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1 } }))
    coalescer.add(count(2, { door: { up: 1 } }))
    expect(passed.map(({ channel }) => channel)).toEqual([1, 2])
  })

  test('that still wait go out when flushed', () => {
    const { passed, coalescer } = collect()
    coalescer.add(count(1, { door: { up: 1 } }))
    coalescer.add(count(1, { door: { up: 2 } }))
    coalescer.flush()
    expect(passed.at(-1)?.data).toEqual({ door: { up: 2 } })
    expect(vi.getTimerCount()).toBe(0)
  })
})

function count(channel: number, data: CountDraft['data']): CountDraft {
  const time = '2026-01-01T00:00:00.000Z'
  return { kind: 'count', channel, source: 1, pipeline: 1, pts: 0, epoch: 1, time, data }
}
