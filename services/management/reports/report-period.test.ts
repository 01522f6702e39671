import { describe, expect, it } from 'vitest'
import {
  addPreviousPeriod,
  findLastPeriod,
  formatLocalDay,
  formatLocalTime,
  listBuckets,
} from './report-period.ts'

const at = Date.parse
const iso = ({ from, to }: { from: number; to: number }) =>
  [from, to].map(time => new Date(time).toISOString())

describe('the last complete period', () => {
  it.each([
    [
      '1d',
      1,
      'day',
      'UTC',
      '2026-03-04T00:00:00Z',
      '2026-03-03T00:00:00.000Z',
      '2026-03-04T00:00:00.000Z',
    ],
    // Clocks were set forward on 29 March, backward on 25 October.
    [
      '1d',
      1,
      'day',
      'Europe/Berlin',
      '2026-03-30T05:00:00Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ],
    [
      '1d',
      1,
      'day',
      'Europe/Berlin',
      '2026-10-26T05:00:00Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ],
    [
      '7d',
      7,
      'day',
      'Asia/Kathmandu',
      '2026-03-04T12:00:00Z',
      '2026-02-24T18:15:00.000Z',
      '2026-03-03T18:15:00.000Z',
    ],
    [
      '1w',
      1,
      'week',
      'Europe/Berlin',
      '2026-03-04T05:00:00Z',
      '2026-02-22T23:00:00.000Z',
      '2026-03-01T23:00:00.000Z',
    ],
    [
      '2w',
      2,
      'week',
      'America/New_York',
      '2026-03-16T03:00:00Z',
      '2026-02-23T05:00:00.000Z',
      '2026-03-09T04:00:00.000Z',
    ],
    [
      '1mo',
      1,
      'month',
      'Australia/Lord_Howe',
      '2026-04-30T23:00:00Z',
      '2026-03-31T13:00:00.000Z',
      '2026-04-30T13:30:00.000Z',
    ],
    [
      '3mo',
      3,
      'month',
      'UTC',
      '2026-01-01T00:00:00Z',
      '2025-10-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
    ],
    // In Cairo, the day of the change has no midnight.
    [
      '1d',
      1,
      'day',
      'Africa/Cairo',
      '2026-04-25T03:00:00Z',
      '2026-04-23T22:00:00.000Z',
      '2026-04-24T21:00:00.000Z',
    ],
  ] as const)(
    'of %s consists of days of the time zone (%#)',
    (_, count, unit, timeZone, before, from, to) => {
      expect(iso(findLastPeriod({ count, unit }, at(before), timeZone))).toEqual([from, to])
    },
  )

  it('follows the period before without a gap', () => {
    const { from, previous } = findLastPeriod(
      { count: 1, unit: 'month' },
      at('2026-04-02T00:00:00Z'),
      'UTC',
    )
    expect(iso(previous)).toEqual(['2026-02-01T00:00:00.000Z', new Date(from).toISOString()])
  })
})

describe('the period before', () => {
  it.each([
    [
      'whole months',
      'Europe/Berlin',
      '2026-02-28T23:00:00Z',
      '2026-03-31T22:00:00Z',
      '2026-01-31T23:00:00.000Z',
    ],
    [
      'days',
      'Europe/Berlin',
      '2026-03-28T23:00:00Z',
      '2026-03-30T22:00:00Z',
      '2026-03-26T23:00:00.000Z',
    ],
    [
      'part of a day',
      'UTC',
      '2026-03-04T10:00:00Z',
      '2026-03-04T12:00:00Z',
      '2026-03-03T10:00:00.000Z',
    ],
  ])('has as many units for %s', (_, timeZone, from, to, previousFrom) => {
    const { previous } = addPreviousPeriod({ from: at(from), to: at(to) }, timeZone)
    expect(iso(previous)).toEqual([previousFrom, new Date(from).toISOString()])
  })
})

describe('the rows of a period', () => {
  const march = { from: at('2026-02-28T23:00:00Z'), to: at('2026-03-31T22:00:00Z') }

  it('are all days, of which one has 23 hours', () => {
    const rows = listBuckets(march, {
      interval: 'day',
      timeZone: 'Europe/Berlin',
      now: at('2027-01-01T00:00:00Z'),
    })
    expect(rows).toHaveLength(31)
    expect(rows[28]).toMatchObject({ firstDay: '2026-03-29', lastDay: '2026-03-29' })
  })

  it('are weeks from Monday, of which the first and the last are cut', () => {
    const rows = listBuckets(march, {
      interval: 'week',
      timeZone: 'Europe/Berlin',
      now: at('2027-01-01T00:00:00Z'),
    })
    expect(rows.map(({ firstDay, lastDay }) => `${firstDay} ${lastDay}`)).toEqual([
      '2026-03-01 2026-03-01',
      '2026-03-02 2026-03-08',
      '2026-03-09 2026-03-15',
      '2026-03-16 2026-03-22',
      '2026-03-23 2026-03-29',
      '2026-03-30 2026-03-31',
    ])
  })

  it('end with the one that has begun', () => {
    const rows = listBuckets(march, {
      interval: 'day',
      timeZone: 'Europe/Berlin',
      now: at('2026-03-02T12:00:00Z'),
    })
    expect(rows.map(({ firstDay }) => firstDay)).toEqual(['2026-03-01', '2026-03-02'])
  })
})

it('shows days and times of the time zone', () => {
  expect(formatLocalDay(at('2026-03-04T18:15:00Z'), 'Asia/Kathmandu')).toBe('2026-03-05')
  expect(formatLocalTime(at('2026-03-04T18:15:00Z'), 'Asia/Kathmandu')).toBe('2026-03-05 00:00')
})
