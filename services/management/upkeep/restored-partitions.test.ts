import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { expect, it, onTestFinished } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test/fixtures/management/test-database.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { maintainPartitions } from '../events/partitions.ts'
import { backUp } from './backup.ts'
import { restore } from './restore.ts'

const passphrase = 'correct horse battery staple'

/** Returns the partitions of `event` with their numbers of events. */
const readPartitions = async ({ database }: TestDatabase) => [
  ...(await database.system('test', tx =>
    tx.execute(sql`
      select
        relname as name,
        relrowsecurity and relforcerowsecurity as "isSecured",
        count(event.tableoid)::int as events
      from pg_class
      left join event on event.tableoid = pg_class.oid
      where relispartition and relkind = 'r'
      group by pg_class.oid
      order by relname`),
  )),
]

it('restores events to the partitions of their weeks', async () => {
  const [source, target] = [await createTestDatabase(), await createTestDatabase({ empty: true })]
  onTestFinished(async () => void (await Promise.all([source.remove(), target.remove()])))
  await maintainPartitions(source.database, {
    nowMs: Date.parse('2026-01-06T00:00:00Z'),
    oldestMs: 0,
    signal: new AbortController().signal,
  })
  await source.database.system('test', tx =>
    tx.execute(sql`
      insert into event (engine_id, log_id, seq, time, channel_id, kind, data)
      select
        gen_random_uuid(), 'log', n, timestamptz '2026-01-01T00:00:00Z' + n * interval '1 day',
        gen_random_uuid(), 'count', '{}'
      from generate_series(1, 20) n`),
  )

  const archivePath = join(createTemporaryFolder(), 'eyrie.backup')
  await backUp(source.target, createTemporaryFolder(), archivePath, passphrase)
  await restore({
    openDatabase: async () => target.target,
    data: createTemporaryFolder(),
    archivePath,
    passphrase,
    force: false,
  })
  expect(await readPartitions(target)).toEqual([
    { name: 'event_2026_01_05', isSecured: true, events: 7 },
    { name: 'event_2026_01_12', isSecured: true, events: 7 },
    { name: 'event_2026_01_19', isSecured: true, events: 3 },
    { name: 'event_2026_01_26', isSecured: true, events: 0 },
    { name: 'event_other', isSecured: true, events: 3 },
  ])
})
