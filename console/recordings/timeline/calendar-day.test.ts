import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clockChange, dayAfter, dayAt, dayNamed, offsetText } from './calendar-day.ts'
import { centred, moved, showing, ticksOf, zoomed } from './timeline-scale.ts'

const HOUR = 3_600_000

beforeEach(() => {
  vi.stubEnv('TZ', 'Europe/Berlin')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('a day of the viewer', () => {
  it('goes from midnight to midnight by his clocks', () => {
    const day = dayAt(Date.parse('2026-06-30T22:30:00Z'))
    expect(day).toEqual({
      text: '2026-07-01',
      from: Date.parse('2026-06-30T22:00:00Z'),
      to: Date.parse('2026-07-01T22:00:00Z'),
    })
    expect(clockChange(day)).toBeUndefined()
  })

  it.each([
    ['2026-03-29', 23, 'forward'],
    ['2026-10-25', 25, 'back'],
  ])('%s has %i hours, since the clocks go %s', (text, hours, way) => {
    const day = dayNamed(text)!
    expect((day.to - day.from) / HOUR).toBe(hours)
    expect(clockChange(day)).toContain(way)
    expect([dayAfter(day, 1).from, dayAfter(day, -1).to]).toEqual([day.to, day.from])
  })

  it('may begin at one o’clock, where midnight is left out', () => {
    vi.stubEnv('TZ', 'America/Sao_Paulo')
    const day = dayNamed('2018-11-04')!
    expect((day.to - day.from) / HOUR).toBe(23)
    expect(new Date(day.from).getHours()).toBe(1)
  })

  it.each(['2026-02-30', '2026-1-1', 'today', ''])('is not named "%s"', text => {
    expect(dayNamed(text)).toBeUndefined()
  })

  it('says how far its clocks are ahead', () => {
    const { from, to } = dayNamed('2026-10-25')!
    expect([offsetText(from), offsetText(to)]).toEqual(['+02:00', '+01:00'])
  })
})

describe('ticks of a timeline', () => {
  const texts = (day: string, most: number) => ticksOf(dayNamed(day)!, most).map(({ text }) => text)

  it('are round by the clocks', () => {
    expect(texts('2026-07-01', 8)).toEqual(
      [0, 3, 6, 9, 12, 15, 18, 21].map(h => `${String(h).padStart(2, '0')}:00`),
    )
  })

  it('have an hour twice where the day has it twice, and not where it is left out', () => {
    const hours = (day: string) => texts(day, 30).map(text => Number(text.slice(0, 2)))
    expect(hours('2026-10-25').slice(0, 5)).toEqual([0, 1, 2, 2, 3])
    expect(hours('2026-03-29').slice(0, 5)).toEqual([0, 1, 3, 4, 5])
  })

  it('stay round after the change', () => {
    const day = dayNamed('2026-10-25')!
    const times = ticksOf(day, 9)
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

  it('are round where the offset is a quarter of an hour', () => {
    vi.stubEnv('TZ', 'Asia/Kathmandu')
    expect(texts('2026-07-01', 8)[1]).toBe('03:00')
  })

  it('show seconds when they are near together', () => {
    const from = dayNamed('2026-07-01')!.from
    expect(ticksOf({ from, to: from + 10_000 }, 5).map(({ text }) => text)).toEqual([
      '00:00:00',
      '00:00:02',
      '00:00:04',
      '00:00:06',
      '00:00:08',
    ])
  })
})

describe('the span of a timeline', () => {
  const limits = { from: 0, to: 24 * HOUR }

  it('is zoomed around a time that stays where it is', () => {
    const span = zoomed(limits, 0.5, 6 * HOUR, limits)
    expect(span).toEqual({ from: 3 * HOUR, to: 15 * HOUR })
    expect(zoomed(span, 100, 6 * HOUR, limits)).toEqual(limits)
    const least = zoomed(span, 1e-9, 6 * HOUR, limits)
    expect(least.to - least.from).toBe(10_000)
  })

  it('can have a time in its middle', () => {
    expect(centred(limits, 0.25, 10 * HOUR, limits)).toEqual({ from: 7 * HOUR, to: 13 * HOUR })
    expect(centred(limits, 0.25, 23 * HOUR, limits)).toEqual({ from: 18 * HOUR, to: 24 * HOUR })
  })

  it('never leaves the day', () => {
    expect(moved({ from: HOUR, to: 3 * HOUR }, -5 * HOUR, limits)).toEqual({ from: 0, to: 2 * HOUR })
    expect(moved({ from: HOUR, to: 3 * HOUR }, 50 * HOUR, limits)).toEqual({ from: 22 * HOUR, to: 24 * HOUR })
  })

  it('follows what is played', () => {
    const span = { from: HOUR, to: 3 * HOUR }
    expect(showing(span, 2 * HOUR, limits)).toBe(span)
    expect(showing(span, 10 * HOUR, limits)).toEqual({ from: 9 * HOUR, to: 11 * HOUR })
  })
})
