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
import { unpack } from './archive-reader.ts'
import { ignoreAbsence, parts } from './data-files.ts'
import { type Manifest, tableEntry } from './manifest.ts'
import { inOrder } from './tables.ts'

export interface RestoreOptions {
  /** Where the database is. It is asked for when the archive is known to be whole. */
  target(): Promise<ConnectionTarget>
  /** Folder of the appliance's data. */
  data: string
  /** Of the archive. */
  path: string
  /** Whether what is there is replaced. */
  force: boolean
  /** Folder of migrations. */
  migrations?: string
}

/**
 * Puts back everything that a backup holds, and brings it to this release's schema. Nothing is changed before the whole
 * archive has been read and found to be as it was written; the database changes at once or not at all. Where it is
 * interrupted after that, it can be done again.
 */
export async function restore(options: RestoreOptions): Promise<Manifest> {
  const { data, path, force, migrations = migrationsFolder } = options
  if (!force) await refuseFiles(data)
  const staging = join(data, 'restore.new')
  await rm(staging, { recursive: true, force: true })
  await mkdir(staging, { recursive: true, mode: 0o700 })
  try {
    const manifest = await unpack(path, staging)
    if (manifest.schema > schemaVersion(migrations))
      throw new Error(`${path} was made by a newer release (${manifest.version}): restore it with that one`)
    const target = await options.target()
    if (!force) await refuseTables(target)
    await fill(target, staging, manifest, migrations)
    await replaceFiles(join(staging, 'files'), data)
    return manifest
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function refuseFiles(data: string): Promise<void> {
  const there = []
  for (const part of parts) if (await lstat(join(data, part)).catch(ignoreAbsence)) there.push(part)
  if (there.length > 0) refuse(there.join(', '))
}

async function refuseTables(target: ConnectionTarget): Promise<void> {
  const sql = connect(target)
  try {
    const [there] = await sql`select where to_regclass('public.migration') is not null`
    if (there) refuse('a database')
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function refuse(what: string): never {
  throw new Error(`this installation is not empty (${what}): --force replaces what it has by the backup`)
}

async function fill(target: ConnectionTarget, staging: string, manifest: Manifest, migrations: string) {
  const role = await chooseRole(target)
  const sql = connect(target, role ? { role } : {})
  try {
    await withTransaction(sql, async () => {
      await sql`select set_config('eyrie.scope', 'all', true), set_config('eyrie.operation', 'migration', true)`
      await dropTables(sql)
      await applyMigrations(sql, manifest.schema, migrations)
      const tables = await inOrder(sql, manifest.tables)
      await suspendRowSecurity(sql, tables)
      for (const { name, columns, parts } of tables) {
        if (parts === 0) continue
        const into = `copy "${name}" (${columns.map(column => `"${column}"`).join(', ')}) from stdin`
        const rows = Readable.from(rowsOf(staging, name, parts), { objectMode: false })
        await pipeline(rows, await sql.unsafe(into).writable())
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

async function* rowsOf(staging: string, table: string, parts: number) {
  for (let part = 0; part < parts; part += 1) yield* createReadStream(join(staging, tableEntry(table, part)))
}

async function dropTables(sql: ISql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`
  for (const { name } of tables) await sql.unsafe(`drop table "${name}" cascade`)
}

/** What a backup does not hold goes, too: it belongs to another installation. */
async function replaceFiles(from: string, data: string): Promise<void> {
  for (const part of parts) {
    await rm(join(data, part), { recursive: true, force: true })
    await mkdir(dirname(join(data, part)), { recursive: true, mode: 0o700 })
    await rename(join(from, part), join(data, part)).catch(ignoreAbsence)
  }
}
