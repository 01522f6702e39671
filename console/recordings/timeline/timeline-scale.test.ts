import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseDay } from './calendar-day.ts'
import { createTicks, pan, panInto, zoomAt, zoomCentered } from './timeline-scale.ts'

const HOUR = 3_600_000

beforeEach(() => {
  vi.stubEnv('TZ', 'Europe/Berlin')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('timeline ticks', () => {
  const texts = (day: string, max: number) =>
    createTicks(parseDay(day)!, max).map(({ text }) => text)

  it('are at round local times', () => {
    expect(texts('2026-07-01', 8)).toEqual(
      [0, 3, 6, 9, 12, 15, 18, 21].map(h => `${String(h).padStart(2, '0')}:00`),
    )
  })

  it('repeat a repeated hour and omit a skipped one', () => {
    const hours = (day: string) => texts(day, 30).map(text => Number(text.slice(0, 2)))
    expect(hours('2026-10-25').slice(0, 5)).toEqual([0, 1, 2, 2, 3])
    expect(hours('2026-03-29').slice(0, 5)).toEqual([0, 1, 3, 4, 5])
  })

  it('are still round after clocks have changed', () => {
    const day = parseDay('2026-10-25')!
    const times = createTicks(day, 9)
    expect(times.map(({ text }) => text)).toEqual([
      '00:00',
      '03:00',
      '06:00',
      '09:00',
      '12:00',
      '15:00',
      '18:00',
      '21:00',
    ])
    expect((times[1]!.timeMs - day.from) / HOUR).toBe(4)
  })

  it('are round in time zones with an offset of quarter hours', () => {
    vi.stubEnv('TZ', 'Asia/Kathmandu')
    expect(texts('2026-07-01', 8)[1]).toBe('03:00')
  })

  it('include seconds when they are close together', () => {
    const from = parseDay('2026-07-01')!.from
    expect(createTicks({ from, to: from + 10_000 }, 5).map(({ text }) => text)).toEqual([
      '00:00:00',
      '00:00:02',
      '00:00:04',
      '00:00:06',
      '00:00:08',
    ])
  })
})

describe('timeline span', () => {
  const limits = { from: 0, to: 24 * HOUR }

  it('zooms around a time that keeps its position', () => {
    const span = zoomAt(limits, 0.5, 6 * HOUR, limits)
    expect(span).toEqual({ from: 3 * HOUR, to: 15 * HOUR })
    expect(zoomAt(span, 100, 6 * HOUR, limits)).toEqual(limits)
    const shortest = zoomAt(span, 1e-9, 6 * HOUR, limits)
    expect(shortest.to - shortest.from).toBe(10_000)
  })

  it('zooms with a time in its center', () => {
    expect(zoomCentered(limits, 0.25, 10 * HOUR, limits)).toEqual({ from: 7 * HOUR, to: 13 * HOUR })
    expect(zoomCentered(limits, 0.25, 23 * HOUR, limits)).toEqual({
      from: 18 * HOUR,
      to: 24 * HOUR,
    })
  })

  it('stays within the day when it is panned', () => {
    expect(pan({ from: HOUR, to: 3 * HOUR }, -5 * HOUR, limits)).toEqual({ from: 0, to: 2 * HOUR })
    expect(pan({ from: HOUR, to: 3 * HOUR }, 50 * HOUR, limits)).toEqual({
      from: 22 * HOUR,
      to: 24 * HOUR,
    })
  })

  it('pans to a playback position outside of it', () => {
    const span = { from: HOUR, to: 3 * HOUR }
    expect(panInto(span, 2 * HOUR, limits)).toBe(span)
    expect(panInto(span, 10 * HOUR, limits)).toEqual({ from: 9 * HOUR, to: 11 * HOUR })
  })
})
