import { describe, expect, it } from 'vitest'
import { createCalendar } from '../../../test/fixtures/management/create-calendar.ts'
import { parseCalendar } from './parse-calendar.ts'

const now = new Date('2026-01-15T12:00:00Z')
const parse = async (...events: string[]) =>
  (await parseCalendar(createCalendar(...events), now)).calendar_events

const year = (text: string) => text.slice(0, 4)

describe('calendar files', () => {
  it('contain days, local times and instants, recurring ones included', async () => {
    const events = await parse(
      'DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261227\nRRULE:FREQ=YEARLY\nSUMMARY;LANGUAGE=en:Christmas',
      'DTSTART:20260224T120000\nDTEND:20260224T180000\nSUMMARY:Half day',
      'DTSTART:20260301T120000Z\nDURATION:PT2H\nSUMMARY:Inventory',
      'DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY\nSUMMARY:Leap day',
    )
    const christmas = events.filter(({ summary }) => summary === 'Christmas')
    expect(christmas.map(({ start }) => year(start))).toEqual([
      '2026',
      '2027',
      '2028',
      '2029',
      '2030',
    ])
    expect(christmas[0]).toMatchObject({ start: '2026-12-25', end: '2026-12-27' })
    expect(events.filter(({ summary }) => summary === 'Leap day')).toEqual([
      { start: '2028-02-29', end: '2028-03-01', summary: 'Leap day' },
    ])
    expect(events.slice(0, 2)).toEqual([
      { start: '2026-02-24T12:00:00', end: '2026-02-24T18:00:00', summary: 'Half day' },
      { start: '2026-03-01T12:00:00.000Z', end: '2026-03-01T14:00:00.000Z', summary: 'Inventory' },
    ])
  })

  it('contain times of a zone across its daylight saving, without excluded, moved and cancelled ones', async () => {
    const zoned = 'TZID=Europe/Berlin'
    const events = await parse(
      `DTSTART;${zoned}:20260301T120000\nDTEND;${zoned}:20260301T130000\nRRULE:FREQ=WEEKLY;COUNT=6\nEXDATE;${zoned}:20260308T120000`,
      `DTSTART;${zoned}:20260316T150000\nDTEND;${zoned}:20260316T160000`,
      `DTSTART;${zoned}:20260317T150000\nDTEND;${zoned}:20260317T160000\nSTATUS:CANCELLED`,
    )
    expect(events.map(({ start }) => start)).toEqual([
      '2026-03-01T11:00:00.000Z',
      '2026-03-15T11:00:00.000Z',
      '2026-03-16T14:00:00.000Z',
      '2026-03-22T11:00:00.000Z',
      '2026-03-29T10:00:00.000Z',
      '2026-04-05T10:00:00.000Z',
    ])
  })

  it('contain what is going on while they are read, but not what is long over', async () => {
    const events = await parse(
      'DTSTART;VALUE=DATE:20250601\nDTEND;VALUE=DATE:20260601',
      'DTSTART;VALUE=DATE:20250601\nDTEND;VALUE=DATE:20250701',
    )
    expect(events.map(({ end }) => end)).toEqual(['2026-06-01'])
  })

  it('have titles of at most 200 characters, none of them half of an emoji', async () => {
    const title = `${'x'.repeat(199)}🎄 and more`
    const [event] = await parse(`DTSTART;VALUE=DATE:20261225\nSUMMARY:${title}`)
    expect(event!.summary).toBe(`${'x'.repeat(199)}\ufffd`)
  })

  it.each([
    ['no events', [], 'no events'],
    [
      'an event each hour',
      ['DTSTART:20260101T000000Z\nDURATION:PT1M\nRRULE:FREQ=HOURLY'],
      'FREQ=HOURLY',
    ],
    ['an RDATE', ['DTSTART:20260101T000000Z\nDURATION:PT1M\nRDATE:20260201T000000Z'], 'RDATE'],
    ['too many events', Array(2_001).fill('DTSTART;VALUE=DATE:20260601'), '2001 events'],
    [
      'too many occurrences',
      Array(4).fill('DTSTART;VALUE=DATE:20260601\nRRULE:FREQ=DAILY'),
      'more than 5000 times',
    ],
    ['an invalid time', ['DTSTART:nonsense'], 'DTSTART'],
  ])('are rejected with %s', async (_, events, reason) => {
    await expect(parse(...events)).rejects.toThrow(reason)
  })

  it('are rejected if a rule needs more time or memory than a calendar may use, and the next file is read', {
    tags: 'long',
  }, async () => {
    const every = (count: number) => Array.from({ length: count }, (_, index) => index).join(',')
    const rule = `RRULE:FREQ=DAILY;BYHOUR=${every(24)};BYMINUTE=${every(60)};BYSECOND=${every(60)}`
    const hostile = parse(`DTSTART:20260101T000000Z\nDURATION:PT1S\n${rule}`)
    const next = parse('DTSTART;VALUE=DATE:20260601')
    await expect(hostile).rejects.toThrow('too much time or memory')
    expect(await next).toHaveLength(1)
  })

  it('are rejected while too many others are being read', { tags: 'long' }, async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => parse('DTSTART;VALUE=DATE:20260601')),
    )
    const failures = results.filter(({ status }) => status === 'rejected')
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.length).toBeLessThan(20)
    expect(failures[0]).toMatchObject({ reason: { code: 'unavailable' } })
  })
})
