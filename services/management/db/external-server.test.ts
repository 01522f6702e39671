import { createLog } from '@eyrie/kit'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/fixtures/postgres.ts'
import { unassigned } from '../../../test/fixtures/principal.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { createDatabaseSupervisor } from './database-supervisor.ts'
import { unprivilegedRole } from './role.ts'
import { findUnmetRequirement } from './server-requirements.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

const urlOf = (user: string, database: string, password = 'plugh') =>
  `postgres://${user}:${password}@127.0.0.1:${server.port}/${database}`

/** Management's database with a `DATABASE_URL`. */
function useDatabase(url: string) {
  const database = createDatabaseSupervisor({
    data: temporaryFolder(),
    url,
    log: createLog('management', 'silent'),
  })
  database.start()
  onTestFinished(() => database.stop())
  return database
}

async function complaintOf(url: string): Promise<string> {
  const database = useDatabase(url)
  await vi.waitUntil(() => database.alarms().length > 0)
  return database.alarms().join()
}

const administer = (statements: string) => server.sql.unsafe(statements).simple()

/** Does what an alarm asks the owner to do, to the letter. */
async function obey(complaint: string, database: string): Promise<void> {
  const statements = complaint.slice(
    complaint.lastIndexOf('in this database: ') + 'in this database: '.length,
  )
  await server.inDatabase(database, administration => administration.unsafe(statements).simple())
}

const seen = sql`select count(*)::int as seen from role`

describe('a Postgres of the owner’s', () => {
  test('serves with an ordinary user that owns the database', async () => {
    const database = await useDatabase(urlOf('eyrie', 'eyrie')).ready
    expect(database.role).toBeUndefined()
    expect(await database.system('test', tx => tx.execute(seen))).toEqual([{ seen: 4 }])
  })

  test('serves by the folder of its socket', async () => {
    const url = `postgres://eyrie@${encodeURIComponent(server.folder)}:${server.port}/eyrie`
    const database = await useDatabase(url).ready
    expect(await database.system('test', tx => tx.execute(seen))).toEqual([{ seen: 4 }])
  })

  test('serves with a superuser, who has no more rights than others', async () => {
    await administer(`create role chief superuser login password 'plugh'`)
    await administer('create database chiefs')
    const database = await useDatabase(urlOf('chief', 'chiefs')).ready
    expect(database.role).toBe(unprivilegedRole)
    await database.system('test', tx => tx.execute(sql`insert into setting values ('sms', '{}')`))
    const read = sql`select name from setting`
    expect(await database.as(unassigned('viewer'), 'test', tx => tx.execute(read))).toEqual([])
  })

  test('that sets times, dates and schemas otherwise answers alike', async () => {
    await administer('create database elsewhere owner eyrie')
    await administer(`alter database elsewhere set timezone to 'Asia/Kolkata'`)
    await administer(`alter database elsewhere set datestyle to 'German'`)
    await administer(`alter database elsewhere set search_path to 'other'`)
    const database = await useDatabase(urlOf('eyrie', 'elsewhere')).ready
    const day = sql`select timestamptz '2026-01-01 22:00+00' as time, date_trunc('day', timestamptz '2026-01-01 22:00+00')::text as day`
    expect(await database.system('test', tx => tx.execute(day))).toMatchObject([
      { day: '2026-01-01 00:00:00+00', time: '2026-01-01 22:00:00+00' },
    ])
  })

  test('whose user is above rights and may make no role to keep them says what to do, and that helps', async () => {
    await administer(`create role lofty bypassrls login password 'plugh'`)
    await administer('create database lofty')
    const database = useDatabase(urlOf('lofty', 'lofty'))
    await vi.waitUntil(() => database.alarms().length > 0)
    const [complaint = ''] = database.alarms()
    expect(complaint).toContain('"lofty" bypasses row-level security')
    await obey(complaint, 'lofty')
    expect((await database.ready).role).toBe(unprivilegedRole)
    expect(database.alarms()).toEqual([])
  })

  test('whose user may not create tables says what to do, and that helps', async () => {
    await administer(`create role guest login password 'plugh'`)
    await administer('create database guests')
    const database = useDatabase(urlOf('guest', 'guests'))
    await vi.waitUntil(() => database.alarms().length > 0)
    const [complaint = ''] = database.alarms()
    expect(complaint).toContain('"guest" may not make tables in the database "guests"')
    await obey(complaint, 'guests')
    expect((await database.ready).role).toBeUndefined()
  })

  test('whose tables are another user’s says whose they have to be', async () => {
    await administer(`create role heir login password 'plugh'`)
    await administer('create database estate owner eyrie')
    await (await useDatabase(urlOf('eyrie', 'estate')).ready).close()
    await administer('alter database estate owner to heir')
    expect(await complaintOf(urlOf('heir', 'estate'))).toMatch(
      /denied for table migration: .*reassign owned by/,
    )
  })

  test.each([
    ['has no such database', () => urlOf('eyrie', 'nowhere'), /"nowhere" does not exist: create it/],
    [
      'knows another password',
      () => urlOf('eyrie', 'eyrie', 'xyzzy'),
      /"eyrie": correct the user and the password/,
    ],
    [
      'takes no TLS',
      () => `${urlOf('eyrie', 'eyrie')}?sslmode=require`,
      /TLS.*: check that Postgres is running/,
    ],
  ])('that %s says what to do', async (_, url, words) => {
    const complaint = await complaintOf(url())
    expect(complaint).toMatch(words)
    expect(complaint).not.toMatch(/plugh|xyzzy/)
  })

  test('whose database cannot hold every name is refused', async () => {
    await administer(`create database narrow owner eyrie encoding 'SQL_ASCII' template template0`)
    expect(await complaintOf(urlOf('eyrie', 'narrow'))).toMatch(
      /encoding of the database "narrow" is SQL_ASCII/,
    )
  })

  test('of before version 15 is refused', () => {
    const facts = { encoding: 'UTF8', database: 'eyrie', user: 'eyrie', canCreate: true, readOnly: false }
    expect(findUnmetRequirement({ ...facts, version: 140_011 })).toMatch(
      /Postgres 14: version 15 or newer is required/,
    )
    expect(findUnmetRequirement({ ...facts, version: 150_000 })).toBeUndefined()
  })

  test('that a newer release has used is refused, and keeps what it has', async () => {
    await administer('create database later owner eyrie')
    const before = await useDatabase(urlOf('eyrie', 'later')).ready
    await before.system('test', tx =>
      tx.execute(sql`insert into migration (hash, created_at) values ('later', 4102444800000)`),
    )
    await before.close()
    expect(await complaintOf(urlOf('eyrie', 'later'))).toContain('was migrated by a newer release')
  })

  test('that goes away is missed, and found again', async () => {
    const access = useDatabase(urlOf('eyrie', 'eyrie'))
    const database = await access.ready
    const ask = () => database.system('test', tx => tx.execute(seen))
    await server.kill()
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' })
    expect(access.alarms().join()).toMatch(/the database is unreachable: .*check that Postgres is running/)
    const insisting = database.retryUntilAvailable(ask)
    await server.start()
    expect(await insisting).toEqual([{ seen: 4 }])
    expect(access.alarms()).toEqual([])
  })
})
