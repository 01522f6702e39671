import type { ReportInterval } from '@eyrie/contract/management/report'
import { describe, expect, it } from 'vitest'
import { findDuePeriods, findLastDay, findLastDueDay, findNextSendingTime } from './report-times.ts'

const at = Date.parse
const times = (every: ReportInterval, timeZone = 'UTC', time = '07:00') => ({
  every,
  time,
  timeZone,
})

/** The last days of the periods that are due. */
const listDue = (each: ReturnType<typeof times>, lastDay: string, now: string) =>
  findDuePeriods(each, lastDay, at(now)).map(period => findLastDay(period, each))

describe('a scheduled report', () => {
  it.each([
    ['before its time', 'day', 'UTC', '2026-03-02', '2026-03-04T06:59:59Z', []],
    ['at its time', 'day', 'UTC', '2026-03-02', '2026-03-04T07:00:00Z', ['2026-03-03']],
    ['once it was sent', 'day', 'UTC', '2026-03-03', '2026-03-04T23:59:59Z', []],
    [
      'of three days that were missed',
      'day',
      'UTC',
      '2026-02-28',
      '2026-03-04T08:00:00Z',
      ['2026-03-01', '2026-03-02', '2026-03-03'],
    ],
    // Monday in Berlin.
    [
      'of a week before its time',
      'week',
      'Europe/Berlin',
      '2026-03-01',
      '2026-03-09T05:59:59Z',
      [],
    ],
    [
      'of a week at its time',
      'week',
      'Europe/Berlin',
      '2026-03-01',
      '2026-03-09T06:00:00Z',
      ['2026-03-08'],
    ],
    // Clocks were set forward on 29 March.
    [
      'of a week on the day of the change',
      'week',
      'Europe/Berlin',
      '2026-03-22',
      '2026-03-30T05:00:00Z',
      ['2026-03-29'],
    ],
    [
      'of a month',
      'month',
      'America/New_York',
      '2026-02-28',
      '2026-04-01T11:00:00Z',
      ['2026-03-31'],
    ],
    [
      'of a month before its time',
      'month',
      'America/New_York',
      '2026-02-28',
      '2026-04-01T10:59:59Z',
      [],
    ],
    [
      'of a leap day',
      'day',
      'Pacific/Auckland',
      '2028-02-28',
      '2028-02-29T18:00:00Z',
      ['2028-02-29'],
    ],
    [
      'on a day without midnight',
      'day',
      'Africa/Cairo',
      '2026-04-22',
      '2026-04-24T04:00:00Z',
      ['2026-04-23'],
    ],
    [
      'of a day without midnight',
      'day',
      'Africa/Cairo',
      '2026-04-23',
      '2026-04-25T04:00:00Z',
      ['2026-04-24'],
    ],
  ] as const)('is due %s', (_, every, timeZone, lastDay, now, expected) => {
    expect(listDue(times(every, timeZone), lastDay, now)).toEqual(expected)
  })

  it('is sent for the last seven periods at most after a long time without any', () => {
    expect(listDue(times('day'), '2025-01-01', '2026-03-04T08:00:00Z')).toEqual(
      ['25', '26', '27', '28']
        .map(day => `2026-02-${day}`)
        .concat('2026-03-01', '2026-03-02', '2026-03-03'),
    )
  })

  it.each([
    'UTC',
    'Europe/Berlin',
    'America/Sao_Paulo',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'Asia/Kathmandu',
  ])('is sent once for each day of three years in %s, however often it is asked for', timeZone => {
    const daily = times('day', timeZone, '00:30')
    let lastDay = '2025-12-31'
    const sent: string[] = []
    for (
      let now = at('2026-01-01T12:00:00Z');
      now < at('2029-01-01T12:00:00Z');
      now += 7 * 3_600_000
    ) {
      for (const period of findDuePeriods(daily, lastDay, now)) {
        lastDay = findLastDay(period, daily)
        sent.push(lastDay)
      }
    }
    const days = Array.from({ length: sent.length }, (_, index) =>
      new Date(at('2026-01-01') + index * 86_400_000).toISOString().slice(0, 10),
    )
    expect(sent.length).toBeGreaterThan(1090)
    expect(sent).toEqual(days)
  })

  it.each([
    ['its time today', 'day', '2026-03-02', '2026-03-04T05:00:00Z', '2026-03-04T06:00:00.000Z'],
    ['tomorrow', 'day', '2026-03-03', '2026-03-04T12:00:00Z', '2026-03-05T06:00:00.000Z'],
    [
      'now, if it was missed',
      'day',
      '2026-03-02',
      '2026-03-04T12:00:00Z',
      '2026-03-04T12:00:00.000Z',
    ],
    [
      'the Monday after the clocks change',
      'week',
      '2026-03-22',
      '2026-03-24T12:00:00Z',
      '2026-03-30T05:00:00.000Z',
    ],
    [
      'the first of the next month',
      'month',
      '2026-02-28',
      '2026-03-24T12:00:00Z',
      '2026-04-01T05:00:00.000Z',
    ],
  ] as const)('is sent next at %s', (_, every, lastDay, now, expected) => {
    const next = findNextSendingTime(times(every, 'Europe/Berlin'), lastDay, at(now))
    expect(new Date(next).toISOString()).toBe(expected)
  })

  it('that is new begins with the period in which it was created, or whose time has not come', () => {
    expect(findLastDueDay(times('day'), at('2026-03-04T06:00:00Z'))).toBe('2026-03-02')
    expect(findLastDueDay(times('day'), at('2026-03-04T08:00:00Z'))).toBe('2026-03-03')
    expect(findLastDueDay(times('month'), at('2026-03-04T08:00:00Z'))).toBe('2026-02-28')
  })
})
