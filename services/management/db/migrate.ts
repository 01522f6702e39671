import { resolve } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import type { Sql } from 'postgres'
import { applyAudit } from './audit.ts'
import { connect } from './connection.ts'
import { applyNotices } from './notices.ts'
import { applyRights } from './policies.ts'
import { roleFor } from './role.ts'
import { seed } from './seed.ts'
import type { ConnectionTarget } from './target.ts'

const migrations = {
  migrationsFolder: resolve(import.meta.dirname, 'migrations'),
  migrationsSchema: 'public',
  migrationsTable: 'migration',
}

/** When the newest migration of this program was made: epoch milliseconds, the version of its schema. */
export const schemaVersion = () =>
  Math.max(...readMigrationFiles(migrations).map(({ folderMillis }) => folderMillis))

/**
 * Makes a database what this program expects: tables, rights, audit, notices. Managements that start at the same moment do it one
 * after the other. Throws if the database is newer than the program.
 */
export async function migrateDatabase(target: ConnectionTarget): Promise<void> {
  const role = await roleFor(target)
  const sql = connect(target, role ? { role } : {})
  try {
    // Held until the connection ends.
    await sql`select pg_advisory_lock(hashtext('eyrie migration'))`
    await refuseNewer(sql)
    await migrate(drizzle(sql), migrations)
    await sql.begin(async once => {
      await applyRights(once)
      await applyAudit(once)
      await applyNotices(once)
      await seed(once)
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function refuseNewer(sql: Sql): Promise<void> {
  const [there] = await sql`select where to_regclass('public.migration') is not null`
  if (!there) return
  const [last] = await sql<{ version: string | null }[]>`select max(created_at) as version from migration`
  if (Number(last?.version) <= schemaVersion()) return
  throw new Error(
    'the database belongs to a newer release than this one: start that release again, or restore a backup that this one has made',
  )
}
