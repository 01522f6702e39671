import { createReadStream } from 'node:fs'
import { lstat, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ISql } from 'postgres'
import type { ConnectionTarget } from '../db/connection.ts'
import { connect } from '../db/connection.ts'
import { applyMigrations, migrateDatabase, migrationsFolder, schemaVersion } from '../db/migrate.ts'
import { chooseRole } from '../db/role.ts'
import { withTransaction } from '../db/transaction.ts'
import { type Manifest, toTableEntry, unpack } from './archive.ts'
import { backedUpPaths, ignoreMissing } from './data-files.ts'
import { sortByReferences } from './tables.ts'

export interface RestoreOptions {
  /** Returns the database. Called only after the archive has been verified. */
  target(): Promise<ConnectionTarget>
  /** Folder of the appliance's data. */
  data: string
  /** Path of the archive. */
  path: string
  /** Whether to replace the contents of an installation that is not empty. */
  force: boolean
  /** Folder of migrations. */
  migrations?: string
}

/**
 * Restores the contents of a backup and migrates them to the schema of this release. Nothing changes before the whole
 * archive has been verified, and the database changes in one transaction. An interrupted restore can be repeated.
 */
export async function restore(options: RestoreOptions): Promise<Manifest> {
  const { data, path, force, migrations = migrationsFolder } = options
  if (!force) await assertNoFiles(data)
  const staging = join(data, 'restore.new')
  await rm(staging, { recursive: true, force: true })
  await mkdir(staging, { recursive: true, mode: 0o700 })
  try {
    const manifest = await unpack(path, staging)
    if (manifest.schema > schemaVersion(migrations))
      throw new Error(
        `${path} was created by a newer release (${manifest.version}): restore it with that release`,
      )
    const target = await options.target()
    if (!force) await assertNoTables(target)
    await replaceTables(target, staging, manifest, migrations)
    await replaceFiles(join(staging, 'files'), data)
    return manifest
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function assertNoFiles(data: string): Promise<void> {
  const existing = []
  for (const path of backedUpPaths)
    if (await lstat(join(data, path)).catch(ignoreMissing)) existing.push(path)
  if (existing.length > 0) throw notEmpty(existing.join(', '))
}

async function assertNoTables(target: ConnectionTarget): Promise<void> {
  const sql = connect(target)
  try {
    const [migration] = await sql`select where to_regclass('public.migration') is not null`
    if (migration) throw notEmpty('a database')
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const notEmpty = (contents: string) =>
  new Error(`this installation is not empty (${contents}): --force replaces what it has by the backup`)

async function replaceTables(
  target: ConnectionTarget,
  staging: string,
  manifest: Manifest,
  migrations: string,
): Promise<void> {
  const role = await chooseRole(target)
  const sql = connect(target, role ? { role } : {})
  try {
    await withTransaction(sql, async () => {
      await sql`select set_config('eyrie.scope', 'all', true), set_config('eyrie.operation', 'migration', true)`
      await sql`select set_config('eyrie.scope', 'all', true), set_config('eyrie.operation', 'migration', true)`
      await dropTables(sql)
      await applyMigrations(sql, manifest.schema, migrations)
      const tables = await sortByReferences(sql, manifest.tables)
      await suspendRowSecurity(sql, tables)
      for (const { name, columns, parts } of tables) {
        if (parts === 0) continue
        const copy = `copy "${name}" (${columns.map(column => `"${column}"`).join(', ')}) from stdin`
        const rows = Readable.from(readRows(staging, name, parts), { objectMode: false })
        await pipeline(rows, await sql.unsafe(copy).writable())
      }
      await resumeRowSecurity(sql, tables)
      await applyMigrations(sql, schemaVersion(migrations), migrations)
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
  await migrateDatabase(target, migrations)
}

/** COPY cannot write to tables with row-level security, and the rows must not be recorded in the audit log again. */
async function suspendRowSecurity(sql: ISql, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables)
    await sql.unsafe(`alter table "${name}" no force row level security, disable trigger user`)
}

async function resumeRowSecurity(sql: ISql, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables)
    await sql.unsafe(`alter table "${name}" force row level security, enable trigger user`)
}

async function* readRows(staging: string, table: string, parts: number) {
  for (let part = 0; part < parts; part += 1)
    yield* createReadStream(join(staging, toTableEntry(table, part)))
}

async function dropTables(sql: ISql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`
  for (const { name } of tables) await sql.unsafe(`drop table "${name}" cascade`)
}

/** Also deletes files that the backup does not contain, because they belong to another installation. */
async function replaceFiles(from: string, data: string): Promise<void> {
  for (const path of backedUpPaths) {
    await rm(join(data, path), { recursive: true, force: true })
    await mkdir(dirname(join(data, path)), { recursive: true, mode: 0o700 })
    await rename(join(from, path), join(data, path)).catch(ignoreMissing)
  }
}
