import { parseBucketInterval } from '@eyrie/contract/management/time-expression'
import { describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import { createBuckets } from './buckets.ts'
import { readEventRange } from './event-range.ts'
import { parseReportPeriod } from './period.ts'

const HOUR_MS = 3_600_000

const fixture = useIngestDatabase()

/** Stores a crossing in the middle of each hour of a period. */
async function insertHourlyCrossings(from: string, to: string): Promise<void> {
  const { hello, crossing } = createMessageFactory()
  const messages = []
  for (let timeMs = Date.parse(from); timeMs < Date.parse(to); timeMs += HOUR_MS) {
    messages.push(crossing(1, timeMs + HOUR_MS / 2))
  }
  await fixture.consume([hello(), ...messages])
}

/** Returns the start and the number of crossings of each bucket. */
async function readBuckets(
  interval: string,
  timeZone: string,
  from: string,
  to: string,
  details = false,
) {
  const records = await fixture.database.system('test', tx =>
    readEventRange(tx, {
      channel_id: fixture.channel_id,
      windowSeconds: 60,
      selection: { keys: ['up'], availableKeys: ['up'], customAggregations: {} },
      period: { from: Date.parse(from), to: Date.parse(to) },
      buckets: createBuckets(parseBucketInterval(interval)!, timeZone),
      ...{ offset: 0, limit: 100, details },
    }),
  )
  return records.map(({ time, up }) => [time.replace(':00.000Z', 'Z'), up])
}

describe('buckets of a time zone', () => {
  it.each([
    [
      'Europe/Berlin',
      '2026-03-29',
      ['2026-03-27T23:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
      23,
    ],
    [
      'Europe/Berlin',
      '2026-10-25',
      ['2026-10-23T22:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
      25,
    ],
    [
      'Australia/Sydney',
      '2026-10-04',
      ['2026-10-02T14:00Z', '2026-10-03T14:00Z', '2026-10-04T13:00Z'],
      23,
    ],
    [
      'Australia/Sydney',
      '2026-04-05',
      ['2026-04-03T13:00Z', '2026-04-04T13:00Z', '2026-04-05T14:00Z'],
      25,
    ],
    [
      'America/Santiago',
      '2026-09-06',
      ['2026-09-05T04:00Z', '2026-09-06T04:00Z', '2026-09-07T03:00Z'],
      23,
    ],
    [
      'America/Havana',
      '2026-11-01',
      ['2026-10-31T04:00Z', '2026-11-01T04:00Z', '2026-11-02T05:00Z'],
      25,
    ],
  ])('are its days: in %s, %s', async (zone, day, starts, hours) => {
    const noon = Date.parse(`${day}T12:00:00Z`)
    const from = new Date(noon - 72 * HOUR_MS).toISOString()
    const to = new Date(noon + 72 * HOUR_MS).toISOString()
    await insertHourlyCrossings(from, to)
    const buckets = await readBuckets('1d', zone, from, to)
    expect(buckets.slice(2, 5)).toEqual([
      [starts[0], 24],
      [starts[1], hours],
      [starts[2], 24],
    ])
    const details = await readBuckets('1d', zone, from, to, true)
    expect(details).toEqual(buckets)
  })

  it('are its weeks from Monday and its months', async () => {
    await insertHourlyCrossings('2026-03-01T00:00:00Z', '2026-04-20T00:00:00Z')
    const period = ['2026-03-01T00:00:00Z', '2026-04-20T00:00:00Z'] as const
    const weeks = await readBuckets('1w', 'Europe/Berlin', ...period)
    expect(weeks.slice(3, 6)).toEqual([
      ['2026-03-15T23:00Z', 168],
      ['2026-03-22T23:00Z', 167],
      ['2026-03-29T22:00Z', 168],
    ])
    const months = await readBuckets('1mo', 'Pacific/Auckland', ...period)
    expect(months).toEqual([
      ['2026-02-28T11:00Z', 31 * 24 - 13],
      ['2026-03-31T11:00Z', 19 * 24 + 13],
    ])
    expect((await readBuckets('3mo', 'UTC', ...period)).map(([start]) => start)).toEqual([
      '2026-01-01T00:00Z',
      '2026-04-01T00:00Z',
    ])
  })

  it('are of fixed length if the interval is not in days', async () => {
    await insertHourlyCrossings('2026-03-28T00:00:00Z', '2026-03-30T00:00:00Z')
    const buckets = await readBuckets(
      '24h',
      'Europe/Berlin',
      '2026-03-28T00:00:00Z',
      '2026-03-30T00:00:00Z',
    )
    expect(buckets).toEqual([
      ['2026-03-28T00:00Z', 24],
      ['2026-03-29T00:00Z', 24],
    ])
  })
})

describe('period of a report', () => {
  const now = Date.parse('2026-06-01T12:00:00Z')
  const parse = (start: string, end: string, zone: string) => {
    const { from, to } = parseReportPeriod(start, end, now, zone)
    return [new Date(from).toISOString(), new Date(to).toISOString()]
  }

  it.each([
    ['UTC', '2026-03-29T00:00:00.000Z', '2026-03-30T00:00:00.000Z'],
    ['Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['Pacific/Auckland', '2026-03-28T11:00:00.000Z', '2026-03-29T11:00:00.000Z'],
    ['America/Los_Angeles', '2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z'],
  ])('from a date to the same date is this day in %s', (zone, from, to) => {
    expect(parse('2026-03-29', '2026-03-29', zone)).toEqual([from, to])
  })

  it('may start with a date and end now', () => {
    expect(parse('2026-06-01', 'now', 'Asia/Kolkata')).toEqual([
      '2026-05-31T18:30:00.000Z',
      '2026-06-01T12:00:00.000Z',
    ])
  })

  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])('may be the whole calendar in %s', zone => {
    const [from, to] = parse('0001-01-01', '9999-12-31', zone)
    expect(from! >= '0001-01-01').toBe(true)
    expect(to! > '9999-12-30').toBe(true)
  })
})
