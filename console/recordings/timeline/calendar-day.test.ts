import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  addDays,
  describeClockChange,
  findEnteredDay,
  formatUtcOffset,
  getDay,
  parseDay,
} from './calendar-day.ts'

const HOUR = 3_600_000

beforeEach(() => {
  vi.stubEnv('TZ', 'Europe/Berlin')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('calendar day', () => {
  it('lasts from midnight to midnight in local time', () => {
    const day = getDay(Date.parse('2026-06-30T22:30:00Z'))
    expect(day).toEqual({
      text: '2026-07-01',
      from: Date.parse('2026-06-30T22:00:00Z'),
      to: Date.parse('2026-07-01T22:00:00Z'),
    })
    expect(describeClockChange(day)).toBeUndefined()
  })

  it.each([
    ['2026-03-29', 23, 'forward'],
    ['2026-10-25', 25, 'back'],
  ])('%s has %i hours, because clocks go %s', (text, hours, direction) => {
    const day = parseDay(text)!
    expect((day.to - day.from) / HOUR).toBe(hours)
    expect(describeClockChange(day)).toContain(direction)
    expect([addDays(day, 1).from, addDays(day, -1).to]).toEqual([day.to, day.from])
  })

  it('begins at one o’clock where clocks skip midnight', () => {
    vi.stubEnv('TZ', 'America/Sao_Paulo')
    const day = parseDay('2018-11-04')!
    expect((day.to - day.from) / HOUR).toBe(23)
    expect(new Date(day.from).getHours()).toBe(1)
  })

  it.each(['2026-02-30', '2026-1-1', 'today', ''])('is not parsed from "%s"', text => {
    expect(parseDay(text)).toBeUndefined()
  })

  it('formats the offset from UTC at a time', () => {
    const { from, to } = parseDay('2026-10-25')!
    expect([formatUtcOffset(from), formatUtcOffset(to)]).toEqual(['+02:00', '+01:00'])
  })

  it('is followed by the day that playback enters, also after hours or days without recordings', () => {
    const monday = parseDay('2026-11-23')!
    const lateMs = new Date('2026-11-23T23:54:59').getTime()
    const enter = (time: string) => findEnteredDay(monday, lateMs, new Date(time).getTime())?.text
    expect(enter('2026-11-23T23:59:59')).toBeUndefined()
    expect(enter('2026-11-24T00:00:00')).toBe('2026-11-24')
    expect(enter('2026-11-24T09:10:00')).toBe('2026-11-24')
    expect(enter('2026-11-26T09:10:00')).toBe('2026-11-26')
  })

  it('remains selected while playback has not reached it yet', () => {
    const monday = parseDay('2026-11-23')!
    expect(findEnteredDay(monday, monday.to, monday.to + 40)).toBeUndefined()
    expect(findEnteredDay(monday, undefined, monday.to + 40)).toBeUndefined()
  })
})
