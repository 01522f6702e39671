import { createReadStream } from 'node:fs'
import { lstat, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ISql } from 'postgres'
import { type ConnectionTarget, connect } from '../db/connection.ts'
import {
  applyMigrations,
  MIGRATIONS_FOLDER,
  migrateDatabase,
  readSchemaVersion,
} from '../db/migrate.ts'
import { connectUnprivileged } from '../db/role.ts'
import { withTransaction } from '../db/transaction.ts'
import { findWeekStart, toCreateStatements } from '../db/weekly-partitions.ts'
import { type Manifest, toTableEntry, unpack } from './archive.ts'
import { BACKED_UP_PATHS, ignoreMissing } from './data-files.ts'
import { sortByReferences } from './tables.ts'

export interface RestoreOptions {
  /** Returns the database to restore to. Called after the archive has been verified. */
  openDatabase(): Promise<ConnectionTarget>
  /** Folder of the appliance's data. */
  data: string
  /** Path of the archive. */
  archivePath: string
  /** Undefined: the archive is not encrypted. */
  passphrase: string | undefined
  /** Whether to replace the contents of an installation that is not empty. */
  force: boolean
  /** Folder of the migrations; tests replace it. */
  migrations?: string
}

/**
 * Implements `eyrie restore`: restores a backup and migrates it to the schema of this release.
 * Verifies the whole archive first, then replaces the database in one transaction, then the files.
 * An interrupted restore can be repeated. Returns the manifest of the backup.
 */
export async function restore(options: RestoreOptions): Promise<Manifest> {
  const { data, archivePath, passphrase, force, migrations = MIGRATIONS_FOLDER } = options
  if (!force) await assertNoFiles(data)

  const staging = join(data, 'restore.new')
  await rm(staging, { recursive: true, force: true })
  await mkdir(staging, { recursive: true, mode: 0o700 })

  try {
    const manifest = await unpack(archivePath, staging, passphrase)
    if (manifest.schema > readSchemaVersion(migrations)) {
      throw new Error(
        `${archivePath} was created by a newer release (${manifest.version}): restore it with that release`,
      )
    }

    const target = await options.openDatabase()
    if (!force) await assertNoTables(target)
    await replaceTables(target, staging, manifest, migrations)
    await replaceFiles(join(staging, 'files'), data, manifest.paths)
    return manifest
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Throws an `Error` if the data folder contains any file that a restore would replace. */
async function assertNoFiles(data: string): Promise<void> {
  const existing: string[] = []
  for (const path of BACKED_UP_PATHS) {
    const status = await lstat(join(data, path)).catch(ignoreMissing)
    if (status) existing.push(path)
  }
  if (existing.length > 0) throw createNotEmptyError(existing.join(', '))
}

async function assertNoTables(target: ConnectionTarget): Promise<void> {
  const sql = connect(target)
  try {
    const [migration] = await sql`select where to_regclass('public.migration') is not null`
    if (migration) throw createNotEmptyError('a database')
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const createNotEmptyError = (contents: string) =>
  new Error(
    `this installation is not empty (${contents}): --force replaces its contents with the backup`,
  )

/**
 * Replaces the tables of the database by those of the backup, which has been unpacked to
 * the folder `staging`.
 */
async function replaceTables(
  target: ConnectionTarget,
  staging: string,
  manifest: Manifest,
  migrations: string,
): Promise<void> {
  const sql = await connectUnprivileged(target)
  try {
    await withTransaction(sql, async () => {
      await sql`select set_config('eyrie.scope', 'all', true), set_config('eyrie.operation', 'migration', true)`

      // Create the tables with the schema of the backup.
      await dropTables(sql)
      await applyMigrations(sql, manifest.schema, migrations)
      await createPartitions(sql, manifest.event_weeks)

      const tables = await sortByReferences(sql, manifest.tables)
      await suspendRowSecurity(sql, tables)
      for (const table of tables) await insertRows(sql, staging, table)
      await resumeRowSecurity(sql, tables)

      // Migrate the tables, now with their rows, to the schema of this release.
      await applyMigrations(sql, readSchemaVersion(migrations), migrations)
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
  // Adds the roles and usecases that are new in this release.
  await migrateDatabase(target, migrations)
}

/** Creates the partitions of weeks with these first days, so that their events go there. */
async function createPartitions(sql: ISql, firstDays: readonly string[]): Promise<void> {
  for (const weekMs of firstDays.map(day => findWeekStart(Date.parse(day)))) {
    for (const statement of toCreateStatements(weekMs)) await sql.unsafe(statement)
  }
}

/**
 * Allows COPY, which rejects tables with row-level security, and disables the triggers that
 * write the audit log.
 */
async function suspendRowSecurity(sql: ISql, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables) {
    await sql.unsafe(`alter table "${name}" no force row level security, disable trigger user`)
  }
}

async function resumeRowSecurity(sql: ISql, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables) {
    await sql.unsafe(`alter table "${name}" force row level security, enable trigger user`)
  }
}

async function insertRows(
  sql: ISql,
  staging: string,
  { name, columns, parts }: Manifest['tables'][number],
): Promise<void> {
  if (parts === 0) return
  const quotedColumns = columns.map(column => `"${column}"`).join(', ')
  const rows = Readable.from(readParts(staging, name, parts), { objectMode: false })
  const table = await sql.unsafe(`copy "${name}" (${quotedColumns}) from stdin`).writable()
  await pipeline(rows, table)
}

async function* readParts(staging: string, table: string, parts: number) {
  for (let part = 0; part < parts; part += 1) {
    yield* createReadStream(join(staging, toTableEntry(table, part)))
  }
}

async function dropTables(sql: ISql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p')
      and not relispartition`
  for (const { name } of tables) await sql.unsafe(`drop table "${name}" cascade`)
}

/**
 * Replaces the files of the data folder that backups with these paths contain. Existing files that
 * this backup does not contain are deleted.
 */
async function replaceFiles(
  restored: string,
  data: string,
  paths: readonly string[],
): Promise<void> {
  for (const path of BACKED_UP_PATHS.filter(path => paths.includes(path))) {
    await rm(join(data, path), { recursive: true, force: true })
    await mkdir(dirname(join(data, path)), { recursive: true, mode: 0o700 })
    await rename(join(restored, path), join(data, path)).catch(ignoreMissing)
  }
}
