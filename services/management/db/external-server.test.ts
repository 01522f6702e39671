// @module-tag long

import { createLog } from '@eyrie/kit'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createUnassignedPrincipal } from '../../../test/fixtures/management/principal.ts'
import { type PostgresServer, startPostgres } from '../../../test/fixtures/processes/postgres.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createDatabaseSupervisor } from './database-supervisor.ts'
import { UNPRIVILEGED_ROLE } from './role.ts'
import { findUnmetRequirement } from './server-requirements.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

const urlOf = (user: string, database: string, password = 'plugh') =>
  `postgres://${user}:${password}@127.0.0.1:${server.port}/${database}`

/** Starts management's database with a `DATABASE_URL`. */
function superviseDatabase(url: string) {
  const supervisor = createDatabaseSupervisor({
    data: createTemporaryFolder(),
    url,
    log: createLog('management', 'silent'),
  })
  supervisor.start()
  onTestFinished(() => supervisor.stop())
  return supervisor
}

async function waitForAlarm(url: string): Promise<string> {
  const supervisor = superviseDatabase(url)
  await vi.waitUntil(() => supervisor.alarms().length > 0)
  return supervisor.alarms().join()
}

const administer = (statements: string) => server.sql.unsafe(statements).simple()

/** Runs the statements that an alarm recommends. */
async function runRecommended(alarm: string, database: string): Promise<void> {
  const statements = alarm.slice(
    alarm.lastIndexOf('in this database: ') + 'in this database: '.length,
  )
  await server.withDatabase(database, administration => administration.unsafe(statements).simple())
}

const countRoles = sql`select count(*)::int as roles from role`

describe('external Postgres server', () => {
  it('is used as an unprivileged user that owns the database', async () => {
    const database = await superviseDatabase(urlOf('eyrie', 'eyrie')).ready
    expect(database.role).toBeUndefined()
    expect(await database.system('test', tx => tx.execute(countRoles))).toEqual([{ roles: 4 }])
  })

  it('is reached by the directory of its socket', async () => {
    const url = `postgres://eyrie@${encodeURIComponent(server.folder)}:${server.port}/eyrie`
    const database = await superviseDatabase(url).ready
    expect(await database.system('test', tx => tx.execute(countRoles))).toEqual([{ roles: 4 }])
  })

  it('is used as an unprivileged role if the user is a superuser', async () => {
    await administer(`create role chief superuser login password 'plugh'`)
    await administer('create database chiefs')
    const database = await superviseDatabase(urlOf('chief', 'chiefs')).ready
    expect(database.role).toBe(UNPRIVILEGED_ROLE)
    await database.system('test', tx => tx.execute(sql`insert into setting values ('sms', '{}')`))
    const read = sql`select name from setting`
    expect(
      await database.as(createUnassignedPrincipal('viewer'), 'test', tx => tx.execute(read)),
    ).toEqual([])
  })

  it('does not depend on the time zone, date style and search path of the database', async () => {
    await administer('create database elsewhere owner eyrie')
    await administer(`alter database elsewhere set timezone to 'Asia/Kolkata'`)
    await administer(`alter database elsewhere set datestyle to 'German'`)
    await administer(`alter database elsewhere set search_path to 'other'`)
    const database = await superviseDatabase(urlOf('eyrie', 'elsewhere')).ready
    const day = sql`select timestamptz '2026-01-01 22:00+00' as time, date_trunc('day', timestamptz '2026-01-01 22:00+00')::text as day`
    expect(await database.system('test', tx => tx.execute(day))).toMatchObject([
      { day: '2026-01-01 00:00:00+00', time: '2026-01-01 22:00:00+00' },
    ])
  })

  it('raises an alarm with a working remedy if the user bypasses row-level security and may not create roles', async () => {
    await administer(`create role lofty bypassrls login password 'plugh'`)
    await administer('create database lofty')
    const supervisor = superviseDatabase(urlOf('lofty', 'lofty'))
    await vi.waitUntil(() => supervisor.alarms().length > 0)
    const [alarm = ''] = supervisor.alarms()
    expect(alarm).toContain('"lofty" bypasses row-level security')
    await runRecommended(alarm, 'lofty')
    expect((await supervisor.ready).role).toBe(UNPRIVILEGED_ROLE)
    expect(supervisor.alarms()).toEqual([])
  })

  it('raises an alarm with a working remedy if the user may not create tables', async () => {
    await administer(`create role guest login password 'plugh'`)
    await administer('create database guests')
    const supervisor = superviseDatabase(urlOf('guest', 'guests'))
    await vi.waitUntil(() => supervisor.alarms().length > 0)
    const [alarm = ''] = supervisor.alarms()
    expect(alarm).toContain('"guest" may not create tables in the database "guests"')
    await runRecommended(alarm, 'guests')
    expect((await supervisor.ready).role).toBeUndefined()
  })

  it('raises an alarm that names the required owner if another user owns the tables', async () => {
    await administer(`create role heir login password 'plugh'`)
    await administer('create database estate owner eyrie')
    await (await superviseDatabase(urlOf('eyrie', 'estate')).ready).close()
    await administer('alter database estate owner to heir')
    expect(await waitForAlarm(urlOf('heir', 'estate'))).toMatch(
      /denied for table migration: .*reassign owned by/,
    )
  })

  it.each([
    [
      'the database does not exist',
      () => urlOf('eyrie', 'nowhere'),
      /"nowhere" does not exist: create it/,
    ],
    [
      'the password is wrong',
      () => urlOf('eyrie', 'eyrie', 'xyzzy'),
      /"eyrie": correct the user and the password/,
    ],
    [
      'the server does not support TLS',
      () => `${urlOf('eyrie', 'eyrie')}?sslmode=require`,
      /TLS.*: check that Postgres is running/,
    ],
  ])('raises an alarm without the password if %s', async (_, url, expected) => {
    const alarm = await waitForAlarm(url())
    expect(alarm).toMatch(expected)
    expect(alarm).not.toMatch(/plugh|xyzzy/)
  })

  it('is rejected if the encoding of the database is not UTF-8', async () => {
    await administer(`create database narrow owner eyrie encoding 'SQL_ASCII' template template0`)
    expect(await waitForAlarm(urlOf('eyrie', 'narrow'))).toMatch(
      /encoding of the database "narrow" is SQL_ASCII/,
    )
  })

  it('is rejected if it is older than version 15', () => {
    const facts = {
      encoding: 'UTF8',
      database: 'eyrie',
      user: 'eyrie',
      canCreate: true,
      isReadOnly: false,
    }
    expect(findUnmetRequirement({ ...facts, version: 140_011 })).toMatch(
      /Postgres 14: version 15 or newer is required/,
    )
    expect(findUnmetRequirement({ ...facts, version: 150_000 })).toBeUndefined()
  })

  it('is rejected, and left unchanged, if a newer release has migrated the database', async () => {
    await administer('create database later owner eyrie')
    const newer = await superviseDatabase(urlOf('eyrie', 'later')).ready
    await newer.system('test', tx =>
      tx.execute(sql`insert into migration (hash, created_at) values ('later', 4102444800000)`),
    )
    await newer.close()
    expect(await waitForAlarm(urlOf('eyrie', 'later'))).toContain('was migrated by a newer release')
  })

  it('raises an alarm while it is unreachable, and is used again afterwards', async () => {
    const supervisor = superviseDatabase(urlOf('eyrie', 'eyrie'))
    const database = await supervisor.ready
    const query = () => database.system('test', tx => tx.execute(countRoles))
    await server.kill()
    await expect(query()).rejects.toMatchObject({ code: 'unavailable' })
    expect(supervisor.alarms().join()).toMatch(
      /the database is unreachable: .*check that Postgres is running/,
    )
    const retried = database.retryUntilAvailable(query)
    await server.start()
    expect(await retried).toEqual([{ roles: 4 }])
    expect(supervisor.alarms()).toEqual([])
  })
})
