import { describe, expect, it } from 'vitest'
import { findSummaryDate } from './summary-time.ts'

describe('date of the daily summary', () => {
  it.each([
    ['before the local time', '2026-07-01T04:59:00Z', 'Europe/Berlin', '2026-06-30'],
    ['at the local time', '2026-07-01T05:00:00Z', 'Europe/Berlin', '2026-07-01'],
    ['in winter', '2026-01-01T05:59:00Z', 'Europe/Berlin', '2025-12-31'],
    ['where the day has begun already', '2026-06-30T19:00:00Z', 'Pacific/Auckland', '2026-07-01'],
    ['where it is still yesterday', '2026-07-01T05:00:00Z', 'America/Los_Angeles', '2026-06-30'],
    ['after a leap day', '2028-03-01T06:00:00Z', 'UTC', '2028-02-29'],
  ])('is right %s', (_, time, timezone, expected) => {
    expect(findSummaryDate(Date.parse(time), '07:00', timezone)).toBe(expected)
  })

  it('changes exactly once a day across a change of daylight saving', () => {
    const begin = Date.parse('2026-03-28T00:00:00Z')
    const dates = Array.from({ length: 72 * 60 }, (_, minute) =>
      findSummaryDate(begin + minute * 60_000, '02:30', 'Europe/Berlin'),
    )
    expect([...new Set(dates)]).toEqual(['2026-03-27', '2026-03-28', '2026-03-29', '2026-03-30'])
    expect(dates.toSorted()).toEqual(dates)
  })
})
