import { randomUUID } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import { event } from '../db/schema/index.ts'
import { maintainPartitions } from './partitions.ts'

const now = Date.parse('2026-03-04T12:00:00Z')
const DAY_MS = 86_400_000

const testDatabase = shared(createTestDatabase, ({ remove }) => remove())

const { signal } = new AbortController()

const maintain = (moment: number) =>
  maintainPartitions(testDatabase.database, {
    nowMs: moment,
    oldestMs: moment - 90 * DAY_MS,
    signal,
  })

const readPartitions = async () =>
  (
    await testDatabase.database.system('test', tx =>
      tx.execute<{ name: string }>(
        sql`select relname as name from pg_class where relispartition and relkind = 'r' order by relname`,
      ),
    )
  ).map(({ name }) => name)

let seq = 0
const insertEvent = (time: string) =>
  testDatabase.database.system('test', tx =>
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

const readEvents = () =>
  testDatabase.database.system('test', tx =>
    tx.execute<{ type: string; partition: string }>(
      sql`select type, tableoid::regclass::text as partition from event order by time`,
    ),
  )

describe('event partitions', () => {
  it('receive the events of their week from the default partition', async () => {
    await insertEvent('2026-03-04T11:00:00Z')
    await insertEvent('2019-01-01T00:00:00Z')
    await insertEvent('2199-01-01T00:00:00Z')
    expect([...(await readEvents())].map(({ partition }) => partition)).toEqual(
      Array.from({ length: 3 }, () => 'event_other'),
    )
    await maintain(now)
    expect([...(await readEvents())]).toEqual([
      { type: '2026-03-04T11:00:00Z', partition: 'event_2026_03_02' },
      { type: '2199-01-01T00:00:00Z', partition: 'event_other' },
    ])
  })

  it('exist for four weeks, and concurrent maintenance creates them once', async () => {
    await Promise.all([maintain(now), maintain(now)])
    expect(await readPartitions()).toEqual([
      'event_2026_03_02',
      'event_2026_03_09',
      'event_2026_03_16',
      'event_2026_03_23',
      'event_other',
    ])
  })

  it('are dropped after the retention, together with late events', async () => {
    await insertEvent('2026-03-25T00:00:00Z')
    await insertEvent('2026-03-01T00:00:00Z')
    await maintain(Date.parse('2026-06-20T00:00:00Z'))
    expect([...(await readEvents())].map(({ type }) => type)).toEqual([
      '2026-03-25T00:00:00Z',
      '2199-01-01T00:00:00Z',
    ])
    expect(await readPartitions()).not.toContain('event_2026_03_09')
    expect(await readPartitions()).toContain('event_2026_03_16')
  })

  it('are left to the next run while a reader uses the table', async () => {
    const readersEnd = Promise.withResolvers<void>()
    const hasRead = Promise.withResolvers<void>()
    const reader = testDatabase.database.system('test', async tx => {
      await tx.select().from(event).limit(1)
      hasRead.resolve()
      await readersEnd.promise
    })
    await hasRead.promise
    const later = Date.parse('2026-07-01T00:00:00Z')
    try {
      expect(await maintain(later)).toBe(false)
      expect(await readPartitions()).toContain('event_2026_03_16')
    } finally {
      readersEnd.resolve()
      await reader
    }
    expect(await maintain(later)).toBe(true)
    expect(await readPartitions()).not.toContain('event_2026_03_16')
  })

  it('enforce the row security of their table', async () => {
    const [secured] = await testDatabase.database.system('test', tx =>
      tx.execute(
        sql`select bool_and(relrowsecurity and relforcerowsecurity) as all from pg_class where relispartition and relkind = 'r'`,
      ),
    )
    expect(secured).toEqual({ all: true })
  })
})

describe('a partition of a week with very many events in the default partition', () => {
  const EVENTS = 12_000
  const week = '2026-03-02T00:00:00Z'

  /** Creates a database with events of a week in the default partition, one in each second. */
  async function createEarlyEvents() {
    const { database, remove } = await createTestDatabase()
    onTestFinished(remove)
    const run = <T extends Record<string, unknown>>(statement: SQL) =>
      database.system('test', tx => tx.execute<T>(statement))
    const insert = (first: number, last: number) =>
      run(sql`
        insert into event (engine_id, log_id, seq, time, channel_id, kind, data)
        select
          gen_random_uuid(), 'log', n, ${week}::timestamptz + n * interval '1 second',
          gen_random_uuid(), 'count', '{}'
        from generate_series(${sql.raw(`${first}, ${last}`)}) n`)
    await insert(1, EVENTS)
    const readPlaces = async () => [
      ...(await run<{ partition: string; events: number; newest: number }>(sql`
        select tableoid::regclass::text as partition, count(*)::int as events, max(seq)::int as newest
        from event group by tableoid order by newest`)),
    ]
    const maintain = () => maintainPartitions(database, { nowMs: now, oldestMs: 0, signal })
    return { run, insert, readPlaces, maintain }
  }

  it('receives the newest of them and all later ones', async () => {
    const { insert, readPlaces, maintain } = await createEarlyEvents()
    expect(await maintain()).toBe(true)
    await insert(EVENTS + 1, EVENTS + 1)
    expect(await maintain()).toBe(true)
    expect(await readPlaces()).toEqual([
      { partition: 'event_other', events: EVENTS - 5_000, newest: EVENTS - 5_000 },
      { partition: 'event_2026_03_02', events: 5_001, newest: EVENTS + 1 },
    ])
  })

  it.each([
    ['first', '0', 'event_other'],
    ['last', '7 days -1 milliseconds', 'event_2026_03_02'],
  ])('is created if they all have the %s time of the week', async (_, offset, partition) => {
    const { run, readPlaces, maintain } = await createEarlyEvents()
    await run(sql`update event set time = ${week}::timestamptz + ${offset}::interval`)
    expect(await maintain()).toBe(true)
    expect(await readPlaces()).toEqual([{ partition, events: EVENTS, newest: EVENTS }])
    const [created] = await run(sql`select to_regclass('event_2026_03_02') is not null as exists`)
    expect(created).toEqual({ exists: true })
  })
})

describe('expired rows', () => {
  it('are deleted in batches, and remain deleted if a later batch fails', async () => {
    const expired = 12_000
    const run = (statement: SQL) =>
      testDatabase.database.system('test', tx => tx.execute(statement))
    const countEvents = async () =>
      (await run(sql`select count(*)::int as count from event where type = 'expired'`))[0]?.count
    await run(sql`
      insert into event (engine_id, log_id, seq, time, channel_id, kind, type, data)
      select gen_random_uuid(), 'log', n, '2001-01-01', gen_random_uuid(), 'event', 'expired', '{}'
      from generate_series(1, ${sql.raw(String(expired))}) n`)
    await run(sql`
      create function reject_last() returns trigger language plpgsql as $$
      begin
        raise 'the last event cannot be deleted';
      end
      $$`)
    await run(sql`
      create trigger reject_last before delete on event_other for each row
      when (old.seq = ${sql.raw(String(expired))}) execute function reject_last()`)

    await expect(maintain(now)).rejects.toThrow('query failed')
    expect(await countEvents()).toBeGreaterThan(0)
    expect(await countEvents()).toBeLessThan(expired / 2)

    await run(sql`drop trigger reject_last on event_other`)
    await maintain(now)
    expect(await countEvents()).toBe(0)
  })
})
