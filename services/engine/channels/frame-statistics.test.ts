import { expect, it } from 'vitest'
import { FrameStatistics, median, quantile } from './frame-statistics.ts'

/** Statistics on a clock that is set by hand, in ms. */
function onClock() {
  const clock = { now: 0 }
  return { clock, statistics: new FrameStatistics(() => clock.now) }
}

it('tells frames a second and latencies of the last ten seconds', () => {
  const { clock, statistics } = onClock()
  for (clock.now = 40; clock.now <= 20_000; clock.now += 40) statistics.analysed(clock.now <= 12_000 ? 5 : 9)
  clock.now = 20_000
  expect(statistics.fps).toBeCloseTo(25, 0)
  expect(median(statistics.latencies)).toBe(9)
  clock.now = 40_000
  expect(statistics.fps).toBe(0)
  expect(median(statistics.latencies)).toBe(0)
})

it('does not take the first seconds for ten', () => {
  const { clock, statistics } = onClock()
  for (clock.now = 100; clock.now <= 2000; clock.now += 100) statistics.analysed(1)
  clock.now = 2000
  expect(statistics.fps).toBe(10)
})

it('counts all dropped frames, and as a lack only those dropped for want of capacity, of late', () => {
  const { clock, statistics } = onClock()
  for (let n = 1; n <= 10; n++) statistics.analysed(1)
  statistics.dropped(6, 'failed')
  expect(statistics.lack).toBe(0)
  statistics.dropped(30, 'lacking')
  expect(statistics.lack).toBe(0.75)
  clock.now = 11_000
  expect(statistics.lack).toBe(0)
  expect(statistics.droppedInAll).toEqual({ lacking: 30, failed: 6 })
  expect(statistics.analysedInAll).toBe(10)
})

it('tells of a slow source too that none of its frames is analysed any more, and that they are again', () => {
  const { clock, statistics } = onClock()
  statistics.analysed(1)
  for (clock.now = 11_000; clock.now < 16_000; clock.now += 1000) {
    statistics.dropped(1, 'lacking')
    expect(statistics.lacking).toBe(false)
  }
  statistics.dropped(1, 'lacking')
  expect(statistics.lacking).toBe(true)
  statistics.analysed(1)
  expect(statistics.lacking).toBe(false)
})

it('remembers for ten seconds that it gave way to higher priorities', () => {
  const { clock, statistics } = onClock()
  expect(statistics.yielding).toBe(false)
  statistics.yielded()
  clock.now = 10_000
  expect(statistics.yielding).toBe(true)
  clock.now = 10_001
  expect(statistics.yielding).toBe(false)
})

it('tells no lack of a few frames', () => {
  const { statistics } = onClock()
  statistics.dropped(19, 'lacking')
  expect(statistics.lacking).toBe(false)
  statistics.dropped(1, 'lacking')
  expect(statistics.lacking).toBe(true)
})

it('lacks capacity above a tenth of dropped frames, and until it is nearly none', () => {
  const { clock, statistics } = onClock()
  const second = (analysed: number, dropped: number) => {
    clock.now += 11_000
    for (let n = 0; n < analysed; n++) statistics.analysed(1)
    statistics.dropped(dropped, 'lacking')
    return statistics.lacking
  }
  expect(second(94, 6)).toBe(false)
  expect(second(85, 15)).toBe(true)
  expect(second(94, 6)).toBe(true)
  expect(second(99, 1)).toBe(false)
  expect(second(94, 6)).toBe(false)
})

it('goes on lacking capacity where frames become too few to tell, until hardly any is dropped', () => {
  const { clock, statistics } = onClock()
  for (let n = 1; n <= 10; n++) statistics.analysed(1)
  statistics.dropped(10, 'lacking')
  expect(statistics.lacking).toBe(true)
  clock.now = 11_000
  for (let n = 1; n <= 9; n++) statistics.analysed(1)
  statistics.dropped(9, 'lacking')
  expect(statistics.lacking).toBe(true)
  clock.now = 22_000
  for (let n = 1; n <= 9; n++) statistics.analysed(1)
  expect(statistics.lacking).toBe(false)
})

it('tells the value that a share of the values lies below', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect([quantile(hundred, 0.5), quantile(hundred, 0.95), quantile(hundred, 1)]).toEqual([51, 96, 100])
  expect([quantile([7], 0.95), quantile([], 0.95)]).toEqual([7, 0])
})
