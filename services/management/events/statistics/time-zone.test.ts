import { describe, expect, it } from 'vitest'
import { getOffsetMs, toMoment } from './time-zone.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Zones of both hemispheres, with changes at night, at midnight, and by half an hour. */
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'America/Santiago',
  'America/Havana',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Pacific/Auckland',
  'Africa/Casablanca',
]

describe('offset of a time zone', () => {
  it.each([
    ['UTC', '2026-07-01T00:00:00Z', 0],
    ['Europe/Berlin', '2026-03-29T00:59:59Z', 1],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', 2],
    ['Australia/Sydney', '2026-01-01T00:00:00Z', 11],
    ['Australia/Sydney', '2026-07-01T00:00:00Z', 10],
    ['America/St_Johns', '2026-01-01T00:00:00Z', -3.5],
    ['Asia/Kolkata', '2026-01-01T00:00:00Z', 5.5],
  ])('of %s at %s is %d hours', (zone, time, hours) => {
    expect(getOffsetMs(Date.parse(time), zone)).toBe(hours * HOUR_MS)
  })
})

const startOfDay = (day: string, zone: string) => toMoment(Date.parse(`${day}T00:00:00Z`), zone)
const nextDay = (day: string) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10)

describe('day of a time zone', () => {
  it.each([
    ['2026-03-29', 'Europe/Berlin', 23],
    ['2026-10-25', 'Europe/Berlin', 25],
    ['2026-03-08', 'America/New_York', 23],
    ['2026-11-01', 'America/New_York', 25],
    ['2026-10-04', 'Australia/Sydney', 23],
    ['2026-04-05', 'Australia/Sydney', 25],
    ['2026-10-04', 'Australia/Lord_Howe', 23.5],
    ['2026-04-05', 'Australia/Lord_Howe', 24.5],
    ['2026-09-06', 'America/Santiago', 23],
    ['2026-04-04', 'America/Santiago', 25],
    ['2026-03-08', 'America/Havana', 23],
    ['2026-11-01', 'America/Havana', 25],
    ['2028-02-29', 'Asia/Kolkata', 24],
  ])('%s in %s has %d hours', (day, zone, hours) => {
    expect((startOfDay(nextDay(day), zone) - startOfDay(day, zone)) / HOUR_MS).toBe(hours)
  })

  it('starts at the change if clocks skip midnight, and at the first of two midnights', () => {
    expect(new Date(startOfDay('2026-09-06', 'America/Santiago')).toISOString()).toBe(
      '2026-09-06T04:00:00.000Z',
    )
    expect(new Date(startOfDay('2026-11-01', 'America/Havana')).toISOString()).toBe(
      '2026-11-01T04:00:00.000Z',
    )
  })

  it.each(zones)('starts when the date changes, on every day of ten years in %s', zone => {
    const format = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' })
    for (let day = '2020-01-01'; day < '2030-01-01'; day = nextDay(day)) {
      const start = startOfDay(day, zone)
      expect(format.format(start)).toBe(day)
      expect(format.format(start - 1) < day).toBe(true)
    }
  })
})
