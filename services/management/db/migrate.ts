import { resolve } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import type { ISql } from 'postgres'
import type { ConnectionTarget } from './connection.ts'
import { connectUnprivileged } from './role.ts'
import { seed } from './seed.ts'
import { assertUsable } from './server-requirements.ts'
import { withTransaction } from './transaction.ts'

/**
 * SQL migrations. `drizzle-kit generate` writes those of tables; policies, triggers and functions
 * are written by hand.
 */
export const MIGRATIONS_FOLDER = resolve(import.meta.dirname, 'migrations')

/**
 * Returns the version of a schema: the time at which its newest migration was created,
 * in epoch milliseconds.
 */
export function readSchemaVersion(folder = MIGRATIONS_FOLDER): number {
  const migrations = readMigrationFiles({ migrationsFolder: folder })
  return Math.max(...migrations.map(({ folderMillis }) => folderMillis))
}

/**
 * Updates a database to the schema of this release. Instances that start at the same moment migrate
 * one after the other. Throws if a newer release has already migrated the database.
 */
export async function migrateDatabase(
  target: ConnectionTarget,
  folder = MIGRATIONS_FOLDER,
): Promise<void> {
  const sql = await connectUnprivileged(target)
  try {
    // The lock is released when the connection closes.
    await sql`select pg_advisory_lock(hashtext('eyrie migration'))`
    await assertUsable(sql)
    await assertNotNewer(sql, folder)
    // Row-level security would otherwise hide the rows that migrations change.
    await sql`
      select
        set_config('eyrie.scope', 'all', false),
        set_config('eyrie.operation', 'migration', false)`
    await migrate(drizzle(sql), {
      migrationsFolder: folder,
      migrationsSchema: 'public',
      migrationsTable: 'migration',
    })
    await withTransaction(sql, () => seed(sql))
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * Throws if the database was migrated to a version that is newer than the migrations in the folder.
 */
async function assertNotNewer(sql: ISql, folder: string): Promise<void> {
  const [migrationTable] = await sql`select where to_regclass('public.migration') is not null`
  if (!migrationTable) return

  const [last] = await sql<
    { version: string | null }[]
  >`select max(created_at) as version from migration`
  if (Number(last?.version) <= readSchemaVersion(folder)) return
  throw new Error(
    'the database was migrated by a newer release: start that release, or restore a backup created by this release',
  )
}

/**
 * Applies the migrations up to a version in the caller's transaction. A restore needs this:
 * it inserts rows between two migrations in a single transaction, but drizzle's migrator
 * commits after each call.
 */
export async function applyMigrations(
  sql: ISql,
  upToVersion: number,
  folder = MIGRATIONS_FOLDER,
): Promise<void> {
  await sql`
    create table if not exists migration (
      id serial primary key,
      hash text not null,
      created_at bigint
    )`
  const [last] = await sql<{ version: string }[]>`
    select coalesce(max(created_at), 0) as version from migration`
  const currentVersion = Number(last?.version)

  for (const migration of readMigrationFiles({ migrationsFolder: folder })) {
    const { folderMillis: version, hash, sql: statements } = migration
    const isPending = version > currentVersion && version <= upToVersion
    if (!isPending) continue
    for (const statement of statements) await sql.unsafe(statement)
    await sql`insert into migration (hash, created_at) values (${hash}, ${version})`
  }
}
