import { describe, expect, it } from 'vitest'
import { median } from '../statistics/quantile.ts'
import { FrameStatistics } from './frame-statistics.ts'

/** Statistics with a manual clock, in ms. */
function createStatistics() {
  const clock = { now: 0 }
  const statistics = new FrameStatistics(() => clock.now)

  /** Records the frames of five seconds, after earlier ones have left the window. */
  function record({ analysed, dropped }: { analysed: number; dropped: number }): void {
    clock.now += 11_000
    for (let n = 0; n < analysed; n++) statistics.recordAnalysed(1)
    clock.now += 5000
    statistics.recordDropped(dropped, 'overload')
  }

  return { clock, record, statistics }
}

describe('frame statistics', () => {
  it('reports frame rate and latencies of the last ten seconds', () => {
    const { clock, statistics } = createStatistics()
    for (clock.now = 40; clock.now <= 20_000; clock.now += 40) {
      statistics.recordAnalysed(clock.now <= 12_000 ? 5 : 9)
    }
    clock.now = 20_000
    expect(statistics.fps).toBeCloseTo(25, 0)
    expect(median(statistics.latencies)).toBe(9)
    clock.now = 40_000
    expect(statistics.fps).toBe(0)
    expect(median(statistics.latencies)).toBe(0)
  })

  it('averages over less than ten seconds after the start', () => {
    const { clock, statistics } = createStatistics()
    for (clock.now = 100; clock.now <= 2000; clock.now += 100) statistics.recordAnalysed(1)
    clock.now = 2000
    expect(statistics.fps).toBe(10)
  })

  it('counts all dropped frames but computes the drop rate from recent overload only', () => {
    const { clock, statistics } = createStatistics()
    for (let n = 1; n <= 10; n++) statistics.recordAnalysed(1)
    statistics.recordDropped(6, 'failed')
    expect(statistics.dropRate).toBe(0)
    statistics.recordDropped(30, 'overload')
    expect(statistics.dropRate).toBe(0.75)
    clock.now = 11_000
    expect(statistics.dropRate).toBe(0)
    expect(statistics.totalDropped).toEqual({ overload: 30, failed: 6 })
    expect(statistics.totalAnalysed).toBe(10)
  })

  it('reports overload of a slow source when none of its frames is analysed', () => {
    const { clock, statistics } = createStatistics()
    statistics.recordAnalysed(1)
    for (clock.now = 11_000; clock.now < 16_000; clock.now += 1000) {
      statistics.recordDropped(1, 'overload')
      expect(statistics.isOverloaded).toBe(false)
    }
    statistics.recordDropped(1, 'overload')
    expect(statistics.isOverloaded).toBe(true)
    statistics.recordAnalysed(1)
    expect(statistics.isOverloaded).toBe(false)
  })

  it('reports yielding for ten seconds', () => {
    const { clock, statistics } = createStatistics()
    expect(statistics.isYielding).toBe(false)
    statistics.recordYield()
    clock.now = 10_000
    expect(statistics.isYielding).toBe(true)
    clock.now = 10_001
    expect(statistics.isYielding).toBe(false)
  })

  it('reports no overload from fewer than 20 frames', () => {
    const { record, statistics } = createStatistics()
    record({ analysed: 10, dropped: 9 })
    expect(statistics.isOverloaded).toBe(false)
    statistics.recordDropped(1, 'overload')
    expect(statistics.isOverloaded).toBe(true)
  })

  it('reports no overload for the frames that are dropped while a model is loaded', () => {
    const { clock, statistics } = createStatistics()
    for (; clock.now <= 9000; clock.now += 40) {
      if (clock.now < 3000) statistics.recordDropped(1, 'overload')
      else statistics.recordAnalysed(1)
      expect(statistics.isOverloaded).toBe(false)
    }
  })

  it('reports overload above 10 % dropped frames until the rate falls below 3 %', () => {
    const { record, statistics } = createStatistics()
    const isOverloadedAfter = (analysed: number, dropped: number) => {
      record({ analysed, dropped })
      return statistics.isOverloaded
    }
    expect(isOverloadedAfter(94, 6)).toBe(false)
    expect(isOverloadedAfter(85, 15)).toBe(true)
    expect(isOverloadedAfter(94, 6)).toBe(true)
    expect(isOverloadedAfter(99, 1)).toBe(false)
    expect(isOverloadedAfter(94, 6)).toBe(false)
  })

  it('remains overloaded with few frames until the drop rate falls', () => {
    const { record, statistics } = createStatistics()
    record({ analysed: 10, dropped: 10 })
    expect(statistics.isOverloaded).toBe(true)
    record({ analysed: 9, dropped: 9 })
    expect(statistics.isOverloaded).toBe(true)
    record({ analysed: 9, dropped: 0 })
    expect(statistics.isOverloaded).toBe(false)
  })
})
