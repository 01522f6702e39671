import type { CalendarEvent } from '@eyrie/contract/management/schedule-rules'
import { describe, expect, it } from 'vitest'
import { createArmedTimeline } from './armed-timeline.ts'
import { allDay, changes, cron, describeChanges, rule, window } from './schedule-rules.fixture.ts'

describe('the rules of schedules', () => {
  it('arm an alert always if it has no schedules, or only schedules without times', () => {
    for (const rules of [
      [],
      [rule([])],
      [rule([], { exceptions: [{ exception_type: 'disarm', events: [] }] })],
    ]) {
      expect(createArmedTimeline(rules, 'Europe/Berlin').stateAt(0)).toMatchObject({
        isArmed: true,
        scheduleIds: [],
        nextChange: undefined,
      })
    }
  })

  it('arm during a window that ends after midnight on the days on which it starts', () => {
    expect(
      changes('Europe/Berlin', '2026-06-01', '2026-06-09', window('22:00', '06:00', 'fri')),
    ).toEqual(['+2026-06-05T20:00', '-2026-06-06T04:00'])
  })

  it('arm for 24 hours during a window that ends when it starts', () => {
    expect(changes('UTC', '2026-06-01', '2026-06-09', window('08:00', '08:00', 'tue'))).toEqual([
      '+2026-06-02T08:00',
      '-2026-06-03T08:00',
    ])
  })

  it('arm on whole days of the site', () => {
    expect(changes('Asia/Tokyo', '2026-06-01', '2026-06-09', allDay('sat, SUN'))).toEqual([
      '+2026-06-05T15:00',
      '-2026-06-07T15:00',
    ])
    expect(createArmedTimeline([rule([allDay()])], 'Asia/Tokyo').stateAt(0)).toMatchObject({
      isArmed: true,
      nextChange: undefined,
    })
  })

  it('arm between two times of RFC 3339, on the days of the constraint', () => {
    const [start, end] = ['2026-06-03T12:00:00+02:00', '2026-06-10T12:00:00+02:00']
    expect(changes('Europe/Berlin', '2026-01-01', '2027-01-01', window(start, end))).toEqual([
      '+2026-06-03T10:00',
      '-2026-06-10T10:00',
    ])
    expect(
      changes('Europe/Berlin', '2026-01-01', '2027-01-01', window(start, end, 'wed,fri')),
    ).toEqual([
      '+2026-06-03T10:00',
      '-2026-06-03T22:00',
      '+2026-06-04T22:00',
      '-2026-06-05T22:00',
      '+2026-06-09T22:00',
      '-2026-06-10T10:00',
    ])
  })

  it('extend an all-day window with times of RFC 3339 to whole days', () => {
    const bounds = {
      occurrence_start_time: '2026-06-03T12:00:00Z',
      occurrence_end_time: '2026-06-04T22:00:00Z',
    }
    expect(changes('Europe/Berlin', '2026-01-01', '2027-01-01', allDay('', bounds))).toEqual([
      '+2026-06-02T22:00',
      '-2026-06-04T22:00',
    ])
    const open = { ...bounds, occurrence_end_time: '' }
    expect(changes('Europe/Berlin', '2026-01-01', '2027-01-01', allDay('', open))).toEqual([
      '+2026-06-02T22:00',
    ])
  })

  it('disarm nothing where windows of several schedules overlap or touch', () => {
    const timeline = createArmedTimeline(
      [
        rule([window('08:00', '12:00')], { schedule_id: 'a' }),
        rule([window('11:00', '14:00')], { schedule_id: 'b' }),
        rule([window('14:00', '15:00')], { schedule_id: 'c' }),
      ],
      'UTC',
    )
    expect(describeChanges(timeline, '2026-06-01', '2026-06-02')).toEqual([
      '+2026-06-01T08:00',
      '-2026-06-01T15:00',
    ])
    expect(timeline.stateAt(Date.parse('2026-06-01T11:30Z')).scheduleIds).toEqual(['a', 'b'])
  })

  it('follow the latest event of all occurrences of a cron schedule', () => {
    const occurrences = [cron('0 18 * * mon-fri', ''), cron('0 12 * * sat', '0 6 * * mon-sat')]
    expect(changes('UTC', '2026-06-01', '2026-06-08', ...occurrences)).toEqual([
      '-2026-06-01T06:00',
      '+2026-06-01T18:00',
      '-2026-06-02T06:00',
      '+2026-06-02T18:00',
      '-2026-06-03T06:00',
      '+2026-06-03T18:00',
      '-2026-06-04T06:00',
      '+2026-06-04T18:00',
      '-2026-06-05T06:00',
      '+2026-06-05T18:00',
      '-2026-06-06T06:00',
      '+2026-06-06T12:00',
    ])
  })

  it('arm while any of several cron schedules does', () => {
    const timeline = createArmedTimeline(
      [rule([cron('0 8 * * *', '0 12 * * *')]), rule([cron('0 10 * * *', '0 14 * * *')])],
      'UTC',
    )
    expect(describeChanges(timeline, '2026-06-01', '2026-06-02')).toEqual([
      '+2026-06-01T08:00',
      '-2026-06-01T14:00',
    ])
  })

  it('prefer the cron event that activates if both are at the same minute', () => {
    expect(
      changes('UTC', '2026-06-01T09:00Z', '2026-06-08', cron('0 8 * * *', '0 8 * * *')),
    ).toEqual([])
    expect(createArmedTimeline([rule([cron('0 8 * * *', '0 8 * * *')])], 'UTC').isArmedAt(0)).toBe(
      true,
    )
  })

  it('never arm by a cron schedule that only deactivates or whose date does not exist', () => {
    for (const occurrence of [cron('', '0 8 * * *'), cron('0 0 30 2 *', '0 8 * * *')]) {
      expect(
        createArmedTimeline([rule([occurrence])], 'UTC').stateAt(Date.parse('2026-06-01')),
      ).toEqual({
        isArmed: false,
        scheduleIds: [],
        nextChange: undefined,
      })
    }
  })

  it('remain armed after the last event of a cron schedule that only activates', () => {
    expect(changes('UTC', '2026-06-01', '2027-06-08', cron('* * * * *', ''))).toEqual([])
    expect(createArmedTimeline([rule([cron('0 0 1 1 *', '')])], 'UTC').isArmedAt(Date.now())).toBe(
      true,
    )
  })

  it('remain fast with a hundred occurrences that change every minute', () => {
    const occurrences = Array(100).fill(cron('*/2 * * * *', '1-59/2 * * * *'))
    const rules = [rule(occurrences), rule([allDay()])]
    const state = createArmedTimeline(rules, 'Europe/Berlin').stateAt(Date.parse('2026-06-01'))
    expect(state).toMatchObject({ isArmed: true, nextChange: undefined })
    expect(changes('UTC', '2026-06-01', '2026-06-01T00:03Z', ...occurrences)).toHaveLength(2)
  })

  it('find 29 February across a century year without a leap day', () => {
    expect(changes('UTC', '2096-03-02', '2104-03-02', cron('0 0 29 2 *', '0 0 1 3 *'))).toEqual([
      '+2104-02-29T00:00',
      '-2104-03-01T00:00',
    ])
  })
})

describe('daylight saving', () => {
  it.each([
    [
      'a start in the gap',
      'Europe/Berlin',
      '2026-03-28',
      window('02:30', '06:00', 'sun'),
      '+2026-03-29T01:00 -2026-03-29T04:00',
    ],
    [
      'an end in the gap',
      'Europe/Berlin',
      '2026-03-28',
      window('22:00', '02:30', 'sat'),
      '+2026-03-28T21:00 -2026-03-29T01:00',
    ],
    ['a window within the gap', 'Europe/Berlin', '2026-03-28', window('02:15', '02:45', 'sun'), ''],
    [
      'a start in the repeated hour',
      'Europe/Berlin',
      '2026-10-24',
      window('02:30', '06:00', 'sun'),
      '+2026-10-25T00:30 -2026-10-25T05:00',
    ],
    [
      'an end in the repeated hour',
      'Europe/Berlin',
      '2026-10-24',
      window('22:00', '02:30', 'sat'),
      '+2026-10-24T20:00 -2026-10-25T01:30',
    ],
    [
      'a gap in the south',
      'Australia/Sydney',
      '2026-10-03',
      window('02:30', '06:00', 'sun'),
      '+2026-10-03T16:00 -2026-10-03T19:00',
    ],
    [
      'a repeated hour in the south',
      'Australia/Sydney',
      '2026-04-04',
      window('22:00', '02:30', 'sat'),
      '+2026-04-04T11:00 -2026-04-04T16:30',
    ],
    [
      'a gap of half an hour',
      'Australia/Lord_Howe',
      '2026-10-03',
      window('02:15', '03:00', 'sun'),
      '+2026-10-03T15:30 -2026-10-03T16:00',
    ],
    [
      'a gap at midnight',
      'Asia/Beirut',
      '2026-03-27',
      allDay('sun'),
      '+2026-03-28T22:00 -2026-03-29T21:00',
    ],
    [
      'an hour before midnight that is repeated',
      'Asia/Beirut',
      '2026-10-23',
      allDay('sat'),
      '+2026-10-23T21:00 -2026-10-24T22:00',
    ],
  ])('of windows: %s', (_, zone, from, occurrence, expected) => {
    const to = new Date(Date.parse(from) + 3 * 86_400_000).toISOString()
    expect(changes(zone, from, to, occurrence).join(' ')).toBe(expected)
  })

  it.each([
    ['a fixed time in the gap', '2026-03-29', cron('30 2 * * *', '0 6 * * *'), '+01:00 -04:00'],
    ['both times in the gap', '2026-03-29', cron('15 2 * * *', '45 2 * * *'), ''],
    [
      'a fixed time in the repeated hour',
      '2026-10-25',
      cron('30 2 * * *', '45 2 * * *'),
      '+00:30 -00:45',
    ],
    [
      'a wildcard in the repeated hour',
      '2026-10-25',
      cron('0 * * * *', '30 * * * *'),
      '+00:00 -00:30 +01:00 -01:30 +02:00 -02:30 +03:00 -03:30 +04:00',
    ],
  ])('of cron: %s', (_, day, occurrence, expected) => {
    const begin = new Date(Date.parse(day) - 20 * 60_000).toISOString()
    const found = changes('Europe/Berlin', begin, `${day}T04:30Z`, occurrence)
    expect(found.map(change => change.replace(`${day}T`, '')).join(' ')).toBe(expected)
  })

  it('skips the day that Samoa skipped', () => {
    const days = changes('Pacific/Apia', '2011-12-28', '2012-01-03', allDay('thu,fri,sat'))
    expect(days).toEqual(['+2011-12-29T10:00', '-2011-12-31T10:00'])
  })
})

describe('exceptions', () => {
  const holidays = (events: CalendarEvent[], exceptionType: 'arm' | 'disarm' = 'disarm') => ({
    exception_type: exceptionType,
    events,
  })

  it('disarm during events: on days and at local times of the site, and at instants', () => {
    const events = [
      { start: '2026-06-02', end: '2026-06-03' },
      { start: '2026-06-03T09:00:00', end: '2026-06-03T10:00:00' },
      { start: '2026-06-04T09:00:00Z', end: '2026-06-04T10:00:00Z' },
    ]
    const timeline = createArmedTimeline(
      [rule([window('08:00', '18:00')], { exceptions: [holidays(events)] })],
      'Europe/Berlin',
    )
    expect(describeChanges(timeline, '2026-06-01T17:00Z', '2026-06-05')).toEqual([
      '+2026-06-03T06:00',
      '-2026-06-03T07:00',
      '+2026-06-03T08:00',
      '-2026-06-03T16:00',
      '+2026-06-04T06:00',
      '-2026-06-04T09:00',
      '+2026-06-04T10:00',
      '-2026-06-04T16:00',
    ])
  })

  it('disarm the part of a night that is in the holiday', () => {
    const timeline = createArmedTimeline(
      [
        rule([window('22:00', '06:00')], {
          exceptions: [holidays([{ start: '2026-12-25', end: '2026-12-26' }])],
        }),
      ],
      'UTC',
    )
    expect(describeChanges(timeline, '2026-12-24T12:00Z', '2026-12-26T12:00Z')).toEqual([
      '+2026-12-24T22:00',
      '-2026-12-25T00:00',
      '+2026-12-26T00:00',
      '-2026-12-26T06:00',
    ])
  })

  it('arm during events even without occurrences, and prevail over exceptions that disarm', () => {
    const timeline = createArmedTimeline(
      [
        rule([], {
          exceptions: [
            holidays([{ start: '2026-06-02', end: '2026-06-03' }], 'arm'),
            holidays([{ start: '2026-06-01', end: '2026-06-10' }]),
          ],
        }),
      ],
      'UTC',
    )
    expect(describeChanges(timeline, '2026-06-01', '2026-06-10')).toEqual([
      '+2026-06-02T00:00',
      '-2026-06-03T00:00',
    ])
  })

  it('return a cron schedule to its latest event', () => {
    const timeline = createArmedTimeline(
      [
        rule([cron('0 8 1 * *', '')], {
          exceptions: [holidays([{ start: '2026-06-05', end: '2026-06-06' }])],
        }),
      ],
      'UTC',
    )
    expect(describeChanges(timeline, '2026-06-02', '2026-06-30')).toEqual([
      '-2026-06-05T00:00',
      '+2026-06-06T00:00',
    ])
  })

  it('affect only the schedules that refer to them', () => {
    const timeline = createArmedTimeline(
      [
        rule([window('08:00', '12:00')], {
          exceptions: [holidays([{ start: '2026-06-01', end: '2026-06-02' }])],
        }),
        rule([window('10:00', '11:00')]),
      ],
      'UTC',
    )
    expect(describeChanges(timeline, '2026-06-01', '2026-06-02')).toEqual([
      '+2026-06-01T10:00',
      '-2026-06-01T11:00',
    ])
  })
})
