import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management-database.ts'
import { shared } from '../../../test/fixtures/shared.ts'
import { event } from '../db/schema/index.ts'
import { keepPartitions } from './partitions.ts'

const now = Date.parse('2026-03-04T12:00:00Z')
const days = 86_400_000

const its = shared(createTestDatabase, ({ remove }) => remove())

const keep = (moment: number) => keepPartitions(its.database, moment, 90 * days)

const partitions = async () =>
  (
    await its.database.system('test', tx =>
      tx.execute<{ name: string }>(
        sql`select relname as name from pg_class where relispartition and relkind = 'r' order by relname`,
      ),
    )
  ).map(({ name }) => name)

let seq = 0
const store = (time: string) =>
  its.database.system('test', tx =>
    tx.insert(event).values({
      engine_id: randomUUID(),
      log_id: 'log',
      seq: ++seq,
      time: new Date(time),
      channel_id: randomUUID(),
      kind: 'event',
      type: time,
      data: {},
    }),
  )

const stored = () =>
  its.database.system('test', tx =>
    tx.execute<{ type: string; partition: string }>(
      sql`select type, tableoid::regclass::text as partition from event order by time`,
    ),
  )

describe('the events', () => {
  it('are stored before there is any partition for their time, and move there when there is', async () => {
    await store('2026-03-04T11:00:00Z')
    await store('2019-01-01T00:00:00Z')
    await store('2199-01-01T00:00:00Z')
    expect([...(await stored())].map(({ partition }) => partition)).toEqual(
      Array.from({ length: 3 }, () => 'event_other'),
    )
    await keep(now)
    expect([...(await stored())]).toEqual([
      { type: '2026-03-04T11:00:00Z', partition: 'event_2026_03_02' },
      { type: '2199-01-01T00:00:00Z', partition: 'event_other' },
    ])
  })

  it('have partitions four weeks ahead, and keeping them again changes nothing', async () => {
    await Promise.all([keep(now), keep(now)])
    expect(await partitions()).toEqual([
      'event_2026_03_02',
      'event_2026_03_09',
      'event_2026_03_16',
      'event_2026_03_23',
      'event_other',
    ])
  })

  it('go when they are older than the retention, those that came late too', async () => {
    await store('2026-03-25T00:00:00Z')
    await store('2026-03-01T00:00:00Z')
    await keep(Date.parse('2026-06-20T00:00:00Z'))
    expect([...(await stored())].map(({ type }) => type)).toEqual([
      '2026-03-25T00:00:00Z',
      '2199-01-01T00:00:00Z',
    ])
    expect(await partitions()).not.toContain('event_2026_03_09')
    expect(await partitions()).toContain('event_2026_03_16')
  })

  it('in a new partition cannot be seen past the rights of their table', async () => {
    const [guarded] = await its.database.system('test', tx =>
      tx.execute(
        sql`select bool_and(relrowsecurity and relforcerowsecurity) as all from pg_class where relispartition and relkind = 'r'`,
      ),
    )
    expect(guarded).toEqual({ all: true })
  })
})
