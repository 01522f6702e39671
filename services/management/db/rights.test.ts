import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/management-database.ts'
import { connect } from './connection.ts'
import { withoutRights } from './policies.ts'

let its: TestDatabase
let sql: Sql

beforeAll(async () => {
  its = await createTestDatabase()
  sql = connect(its.target)
})
afterAll(async () => {
  await sql.end()
  await its.remove()
})

interface Table {
  name: string
  enabled: boolean
  forced: boolean
  partition: boolean
  policies: string[]
}

const tables = () => sql<Table[]>`
  select relname as name, relrowsecurity as enabled, relforcerowsecurity as forced, relispartition as partition,
    array(select cmd from pg_policies where schemaname = 'public' and tablename = relname order by cmd) as policies
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`

describe('row-level security', () => {
  test('is in force for all tables but those that hold nothing of anybody', async () => {
    const open = (await tables()).filter(({ enabled, forced }) => !(enabled && forced))
    expect(open.map(({ name }) => name)).toEqual(withoutRights)
  })

  test('says of every table who sees, makes, changes and removes its rows', async () => {
    const guarded = (await tables()).filter(
      ({ name, partition }) => !withoutRights.includes(name) && !partition,
    )
    expect(guarded.length).toBeGreaterThan(30)
    for (const { name, policies } of guarded)
      expect({ name, policies }).toEqual({ name, policies: ['DELETE', 'INSERT', 'SELECT', 'UPDATE'] })
  })

  test('shows nothing of a partition to who names it instead of its table', async () => {
    const partitions = (await tables()).filter(({ partition }) => partition)
    expect(partitions.length).toBeGreaterThan(0)
    for (const { name, policies } of partitions) expect({ name, policies }).toEqual({ name, policies: [] })
  })

  test('cannot be passed by the role that does the work', async () => {
    const [role] = await its.database.system('test', tx =>
      tx.execute('select rolsuper or rolbypassrls as above from pg_roles where rolname = current_user'),
    )
    expect(role).toEqual({ above: false })
  })
})
