import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Random } from '../../../../scene/maths/random.ts'
import { createMessageFactory } from '../../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import { createBuckets } from './buckets.ts'
import { HOUR_MS, MINUTE_MS, type Period, type Precision, selectSamples } from './samples.ts'

const DAY_MS = 24 * HOUR_MS
const begin = Date.parse('2026-03-27T00:00:00Z')
const days = 4
const crossings = 600

const fixture = useIngestDatabase()
const random = new Random(7)
const at = () => begin + Math.floor(random.between(0, days * DAY_MS))

async function store(): Promise<void> {
  const { hello, crossing } = createMessageFactory()
  // Engines send in order of time, apart from what they send again.
  const times = Array.from({ length: crossings }, at).toSorted((a, b) => a - b)
  await fixture.consume([hello()])
  for (let from = 0; from < times.length; from += 100) {
    await fixture.consume(times.slice(from, from + 100).map(time => crossing(1, time)))
  }
}

const sumSamples = async ({ from, to }: Period, precision: Precision) => {
  const samples = selectSamples([fixture.channel_id], ['total'], { from, to }, precision)
  const [row] = await fixture.database.system('test', tx =>
    tx.execute(
      sql`select coalesce(sum(sum), 0)::float8 as sum, sum(count)::int as count from (${samples}) s`,
    ),
  )
  return row
}

describe('statistics of hours and minutes', () => {
  it('have the sums of the events, for any period', async () => {
    await store()
    const periods = Array.from({ length: 30 }, () => {
      const [from, to] = [at(), at()].toSorted((a, b) => a - b)
      return { from: from!, to: to! }
    })
    const short = [
      { from: begin + 1, to: begin + MINUTE_MS },
      { from: begin + HOUR_MS - 1, to: begin + HOUR_MS + 1 },
      { from: begin, to: begin + days * DAY_MS },
    ]
    for (const period of [...periods, ...short]) {
      const exact = await sumSamples(period, 'exact')
      expect(await sumSamples(period, 'minute')).toEqual(exact)
      expect(await sumSamples(period, 'hour')).toEqual(exact)
    }
    expect(await sumSamples(short[2]!, 'hour')).toMatchObject({ sum: crossings })
  })
})

describe('hours of UTC', () => {
  const week = { from: begin, to: begin + 7 * DAY_MS }
  it.each([
    ['UTC', true],
    ['Europe/Berlin', true],
    ['America/New_York', true],
    ['Asia/Kolkata', false],
    ['Asia/Kathmandu', false],
    ['America/St_Johns', false],
    // Daylight saving lasts until 5 April, and is half an hour.
    ['Australia/Lord_Howe', true],
  ])('make up the days of %s: %s', (timeZone, expected) => {
    expect(createBuckets({ days: 1 }, timeZone).hasWholeHours(week)).toBe(expected)
    expect(createBuckets({ months: 1 }, timeZone).hasWholeHours(week)).toBe(expected)
  })

  it('do not make up the days of a zone that changes by half an hour meanwhile', () => {
    const winter = { from: begin, to: begin + 14 * DAY_MS }
    expect(createBuckets({ days: 1 }, 'Australia/Lord_Howe').hasWholeHours(winter)).toBe(false)
  })

  it('are checked only in years that may have statistics, however long the range is', () => {
    const { hasWholeHours } = createBuckets({ days: 1 }, 'Europe/Berlin')
    const format = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
    onTestFinished(() => format.mockRestore())
    // Before time zones existed, noon in Berlin was seven minutes after 11:00 UTC.
    expect(hasWholeHours({ from: Date.UTC(-2974, 0), to: Date.UTC(7026, 0) })).toBe(true)
    expect(format.mock.calls.length).toBeLessThan(2000)
  })

  it('make up intervals of whole hours', () => {
    expect(createBuckets({ ms: 6 * HOUR_MS }, 'UTC').hasWholeHours(week)).toBe(true)
    expect(createBuckets({ ms: 30 * MINUTE_MS }, 'UTC').hasWholeHours(week)).toBe(false)
  })
})
