import { resolve } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { ISql } from 'postgres'
import { applyAudit } from './audit.ts'
import { connect } from './connection.ts'
import { applyNotices } from './notices.ts'
import { applyRights } from './policies.ts'
import { requireUsable } from './requirements.ts'
import { roleFor } from './role.ts'
import { seed } from './seed.ts'
import type { ConnectionTarget } from './target.ts'
import { inTransaction } from './transaction.ts'

/** Where `drizzle-kit generate` writes what a change of the schema is made by. */
export const shippedMigrations = resolve(import.meta.dirname, 'migrations')

/** When the newest migration of this program was made: epoch milliseconds, the version of its schema. */
export const schemaVersion = (folder = shippedMigrations) =>
  Math.max(...readMigrationFiles({ migrationsFolder: folder }).map(({ folderMillis }) => folderMillis))

/** Applies what is newer than the database, up to a version. For use in a transaction. */
export async function applyMigrations(sql: ISql, upTo: number, folder = shippedMigrations): Promise<void> {
  await sql`create table if not exists migration (id serial primary key, hash text not null, created_at bigint)`
  const [last] = await sql<
    { version: string }[]
  >`select coalesce(max(created_at), 0) as version from migration`
  for (const { folderMillis, hash, sql: statements } of readMigrationFiles({ migrationsFolder: folder })) {
    if (folderMillis <= Number(last?.version) || folderMillis > upTo) continue
    for (const statement of statements) await sql.unsafe(statement)
    await sql`insert into migration (hash, created_at) values (${hash}, ${folderMillis})`
  }
}

/**
 * Makes a database what this program expects: tables, rights, audit, notices. Managements that start at the same moment
 * do it one after the other. Throws if the database is newer than the program.
 */
export async function migrateDatabase(target: ConnectionTarget, folder = shippedMigrations): Promise<void> {
  const role = await roleFor(target)
  const sql = connect(target, role ? { role } : {})
  try {
    // Held until the connection ends.
    await sql`select pg_advisory_lock(hashtext('eyrie migration'))`
    await requireUsable(sql)
    await refuseNewer(sql, folder)
    await inTransaction(sql, async () => {
      await applyMigrations(sql, schemaVersion(folder), folder)
      await applyRights(sql)
      await applyAudit(sql)
      await applyNotices(sql)
      await seed(sql)
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function refuseNewer(sql: ISql, folder: string): Promise<void> {
  const [there] = await sql`select where to_regclass('public.migration') is not null`
  if (!there) return
  const [last] = await sql<{ version: string | null }[]>`select max(created_at) as version from migration`
  if (Number(last?.version) <= schemaVersion(folder)) return
  throw new Error(
    'the database belongs to a newer release than this one: start that release again, or restore a backup that this one has made',
  )
}
