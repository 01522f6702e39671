import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test/fixtures/management/test-database.ts'
import { connect } from './connection.ts'

/** Tables that hold no records. */
const withoutPolicies = ['migration']

let testDatabase: TestDatabase
let sql: Sql

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  sql = connect(testDatabase.target)
})
afterAll(async () => {
  await sql.end()
  await testDatabase.remove()
})

interface Table {
  name: string
  enabled: boolean
  forced: boolean
  isPartition: boolean
  policies: string[]
}

const listTables = () => sql<Table[]>`
  select relname as name, relrowsecurity as enabled, relforcerowsecurity as forced, relispartition as "isPartition",
    array(select cmd from pg_policies where schemaname = 'public' and tablename = relname order by cmd) as policies
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`

describe('row-level security', () => {
  it('is enabled and forced for every table with records', async () => {
    const unprotected = (await listTables()).filter(({ enabled, forced }) => !(enabled && forced))
    expect(unprotected.map(({ name }) => name)).toEqual(withoutPolicies)
  })

  it('has policies for all four commands on every table', async () => {
    const protectedTables = (await listTables()).filter(
      ({ name, isPartition }) => !withoutPolicies.includes(name) && !isPartition,
    )
    expect(protectedTables.length).toBeGreaterThan(30)
    for (const { name, policies } of protectedTables) {
      expect({ name, policies }).toEqual({
        name,
        policies: ['DELETE', 'INSERT', 'SELECT', 'UPDATE'],
      })
    }
  })

  it('has no policies on partitions, so that a query of a partition returns no rows', async () => {
    const partitions = (await listTables()).filter(({ isPartition }) => isPartition)
    expect(partitions.length).toBeGreaterThan(0)
    for (const { name, policies } of partitions) {
      expect({ name, policies }).toEqual({ name, policies: [] })
    }
  })

  it('applies to the role of the management service', async () => {
    const [role] = await testDatabase.database.system('test', tx =>
      tx.execute(
        'select rolsuper or rolbypassrls as "bypassesRowSecurity" from pg_roles where rolname = current_user',
      ),
    )
    expect(role).toEqual({ bypassesRowSecurity: false })
  })
})
