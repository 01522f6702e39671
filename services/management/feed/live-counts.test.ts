import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  createMessageFactory,
  insertChannel,
} from '../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { liveMessage, site } from '../db/schema/index.ts'
import { publishLiveCounts } from './live-counts.ts'

const fixture = useIngestDatabase()
const noon = Date.parse('2026-03-04T12:00:00Z')
const DAY_MS = 86_400_000

/** Publishes the counts, and returns all that were ever published for a channel. */
async function publishAndRead(nowMs: number, channelId = fixture.channel_id) {
  await publishLiveCounts(fixture.database, nowMs)
  const rows = await fixture.database.system('test', tx =>
    tx
      .select()
      .from(liveMessage)
      .where(eq(liveMessage.channel_id, channelId))
      .orderBy(liveMessage.position),
  )
  return rows.filter(({ kind }) => kind === 'count').map(({ data }) => data.counts)
}

describe('live counts', () => {
  it('are published once for any number of events, with the sum of the day', async () => {
    const { crossing, hello } = createMessageFactory()
    await fixture.consume([hello()])
    for (let batch = 0; batch < 5; batch += 1) {
      await fixture.consume(
        Array.from({ length: 200 }, (_, i) =>
          crossing(1, noon + batch * 1000 + i, i % 4 === 0 ? 'down' : 'up'),
        ),
      )
    }
    const first = await publishAndRead(noon + 5000)
    expect(first).toEqual([
      {
        down: { value: 250, aggregation: 'sum', time: '2026-03-04T12:00:04.196Z' },
        total: { value: 1000, aggregation: 'sum', time: '2026-03-04T12:00:04.199Z' },
        up: { value: 750, aggregation: 'sum', time: '2026-03-04T12:00:04.199Z' },
      },
    ])
    expect(await publishAndRead(noon + 6000)).toHaveLength(1)
    await fixture.consume([crossing(1, noon + 7000)])
    expect(await publishAndRead(noon + 7000)).toMatchObject([
      {},
      { total: { value: 1001 }, up: { value: 751 } },
    ])
  })

  it('contain the latest occupancy', async () => {
    const channelId = await insertChannel(fixture.database, fixture.engine, 'occupancy', {
      channel_sid: 2,
    })
    const { occupancy, hello } = createMessageFactory()
    await fixture.consume([
      hello(),
      occupancy(2, noon, 3),
      occupancy(2, noon + 100, 5),
      occupancy(2, noon + 200, 4),
    ])
    expect(await publishAndRead(noon, channelId)).toMatchObject([
      { occupancy: { value: 4, aggregation: 'last', time: '2026-03-04T12:00:00.200Z' } },
    ])
  })

  it('begin anew with the day of the site, and ignore events of earlier days', async () => {
    const { crossing, hello } = createMessageFactory()
    await fixture.database.system('test', tx =>
      tx
        .update(site)
        .set({ site_timezone: 'America/New_York' })
        .where(eq(site.site_id, fixture.engine.site_id)),
    )
    const midnight = Date.parse('2026-03-05T05:00:00Z')
    await fixture.consume([hello(), crossing(1, midnight - 2000), crossing(1, midnight - 1000)])
    expect(await publishAndRead(midnight - 1)).toMatchObject([{ total: { value: 2 } }])
    expect(await publishAndRead(midnight)).toMatchObject([
      {},
      { total: { value: 0 }, up: { value: 0 } },
    ])
    await fixture.consume([crossing(1, midnight + 1000), crossing(1, midnight - 500)])
    await fixture.consume([crossing(1, midnight - DAY_MS)])
    expect((await publishAndRead(midnight + 2000)).at(-1)).toMatchObject({ total: { value: 1 } })
  })

  it('begin anew with the real day after a clock that was ahead has been corrected', async () => {
    const occupancyChannel = await insertChannel(fixture.database, fixture.engine, 'occupancy', {
      channel_sid: 2,
    })
    const { crossing, occupancy, hello } = createMessageFactory()
    const now = Date.now()
    const ahead = now + 3 * DAY_MS
    await fixture.consume([hello(), crossing(1, ahead), crossing(1, ahead), occupancy(2, ahead, 9)])
    expect(await publishAndRead(ahead)).toMatchObject([{ total: { value: 2 } }])
    await fixture.consume([crossing(1, now), occupancy(2, now, 4)])
    expect((await publishAndRead(now)).at(-1)).toMatchObject({ total: { value: 1 } })
    expect((await publishAndRead(now, occupancyChannel)).at(-1)).toMatchObject({
      occupancy: { value: 4 },
    })
    await fixture.consume([crossing(1, now)])
    expect((await publishAndRead(now)).at(-1)).toMatchObject({ total: { value: 2 } })
  })

  it('of an engine whose clock is ahead are those of its day', async () => {
    const { crossing, hello } = createMessageFactory()
    const now = Date.now()
    await fixture.consume([hello(), crossing(1, now + 3 * DAY_MS)])
    expect(await publishAndRead(now)).toMatchObject([{ total: { value: 1 } }])
    await fixture.consume([crossing(1, now + 3 * DAY_MS)])
    expect((await publishAndRead(now)).at(-1)).toMatchObject({ total: { value: 2 } })
  })
})
