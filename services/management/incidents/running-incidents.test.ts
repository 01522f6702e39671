import { describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../test/fixtures/management/engine-messages.ts'
import { insertAlert, readIncidents } from '../../../test/fixtures/management/incident-records.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'

const BEGIN = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

const fixture = useIngestDatabase()
const insert = (
  ...options: [Parameters<typeof insertAlert>[2]?, Parameters<typeof insertAlert>[3]?]
) => insertAlert(fixture.database, fixture.channel_id, ...options)

/** Ingests counts of people, as pairs of a second and a number, in batches. */
async function count(samples: readonly (readonly [number, number])[], batchSize = samples.length) {
  const { hello, occupancy } = createMessageFactory()
  await fixture.consume([hello()])
  const messages = samples.map(([at, people]) => occupancy(1, BEGIN + at * second, people))
  for (let from = 0; from < messages.length; from += batchSize) {
    await fixture.consume(messages.slice(from, from + batchSize))
  }
}

const toSeconds = (time: Date | null) => time && (time.getTime() - BEGIN) / second

/** Returns the incidents: first and latest notification, end, number and peak. */
async function readSummaries() {
  const rows = await readIncidents(fixture.database, fixture.channel_id)
  return rows.map(({ started_at: startedAt, last_at: lastAt, ended_at: endedAt, count, peak }) => ({
    started: toSeconds(startedAt),
    last: toSeconds(lastAt),
    ended: toSeconds(endedAt),
    count,
    peak,
  }))
}

describe('an incident', () => {
  it('contains the notifications of its alert, with the farthest value as its peak', async () => {
    await insert()
    await count([
      [0, 6],
      [1, 9],
      [2, 7],
    ])
    expect(await readSummaries()).toEqual([{ started: 0, last: 2, ended: null, count: 3, peak: 9 }])
    const notifications = await fixture.readNotifications()
    expect(new Set(notifications.map(({ incident_id }) => incident_id)).size).toBe(1)
  })

  it('goes on while the condition flickers around its threshold', async () => {
    await insert()
    await count(Array.from({ length: 40 }, (_, i) => [i * 100, i % 2 ? 5 : 6] as const))
    expect(await readSummaries()).toMatchObject([{ started: 0, count: 20, ended: null }])
  })

  it.each([1, 2, 100])(
    'ends when the condition has not held for the quiet time, in batches of %d messages',
    async batchSize => {
      await insert({}, { quiet_s: 60 })
      await count(
        [
          [0, 6],
          [10, 3],
          [69, 6],
          [80, 4],
          [140, 7],
          [150, 8],
        ],
        batchSize,
      )
      expect(await readSummaries()).toEqual([
        { started: 0, last: 69, ended: 80, count: 2, peak: 6 },
        { started: 140, last: 150, ended: null, count: 2, peak: 8 },
      ])
    },
  )

  it('goes on while the value is between the threshold and the release threshold, from above only', async () => {
    await insert({}, { quiet_s: 60, release_threshold: 2 })
    await count([
      [0, 6],
      [10, 3],
      [500, 6],
      [510, 2],
      [520, 4],
      [600, 6],
    ])
    expect(await readSummaries()).toMatchObject([
      { started: 0, ended: 510, count: 2 },
      { started: 600, ended: null, count: 1 },
    ])
  })

  it('goes on for as long as an object stays, although its alert is limited by a frequency', async () => {
    await insert({ alert_frequency: 3600 }, { quiet_s: 60 })
    await count(Array.from({ length: 30 }, (_, i) => [i * 600, 6] as const))
    expect(await readSummaries()).toEqual([
      { started: 0, last: 14_400, ended: null, count: 5, peak: 6 },
    ])
  })

  it('ends if the clock was ahead during its notifications, so that it does not silence the alert', async () => {
    await insert({}, { quiet_s: 60 })
    await count([
      [7200, 6],
      [7201, 3],
      // The clock has been corrected.
      [100, 6],
      [110, 3],
      [120, 6],
    ])
    expect(await readSummaries()).toEqual([
      { started: 100, last: 120, ended: null, count: 2, peak: 6 },
      { started: 7200, last: 7200, ended: 7201, count: 1, peak: 6 },
    ])
  })

  it('belongs to one alert', async () => {
    await insert()
    await insert({ alert_threshold: '7' })
    await count([
      [0, 6],
      [1, 8],
    ])
    const counts = (await readSummaries()).map(({ count }) => count)
    expect(counts).toEqual([2, 1])
  })
})

describe('the best notification of an incident', () => {
  const box = (size: number) => ({ x: 0.1, y: 0.1, w: size, h: size })
  const readBest = async () => {
    const [incident] = await readIncidents(fixture.database, fixture.channel_id)
    const notifications = await fixture.readNotifications()
    return notifications.findIndex(
      ({ notification_uuid }) => notification_uuid === incident!.best_notification,
    )
  }

  it('is the first one with the largest box', async () => {
    await insert({ alert_threshold_key: 'up', alert_threshold: '0' })
    const { hello, crossing } = createMessageFactory()
    const sizes = [0.2, 0.5, 0.3, 0.5]
    const messages = sizes.map((size, i) =>
      crossing(1, BEGIN + i * second, 'up', { bbox: box(size) }),
    )
    await fixture.consume([hello(), ...messages])
    expect(await readBest()).toBe(1)
  })

  it('is the first one of the peak if no object has a box', async () => {
    await insert()
    await count([
      [0, 6],
      [1, 8],
      [2, 8],
    ])
    expect(await readBest()).toBe(1)
  })
})
