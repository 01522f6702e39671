import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { ISql, Sql } from 'postgres'
import type { ConnectionTarget } from '../db/connection.ts'
import { connectUnprivileged } from '../db/role.ts'
import { NEWEST_BACKUP } from '../db/schema/console.ts'
import { withSnapshot, withTransaction } from '../db/transaction.ts'
import { LIST_PARTITIONS, parseFirstDay } from '../db/weekly-partitions.ts'
import {
  type ArchiveWriter,
  createArchive,
  FORMAT,
  MANIFEST,
  type Manifest,
  toFileEntry,
  toTableEntry,
} from './archive.ts'
import { BACKED_UP_PATHS, explainFileError, ignoreMissing, listFiles } from './data-files.ts'
import { createEncryptor } from './encryption.ts'
import { listTables, type Table } from './tables.ts'

type TableContents = Pick<Manifest, 'schema' | 'tables' | 'event_weeks'>

/**
 * The rows of a table are archived in parts of about this size, because a whole table may
 * not fit into memory.
 */
const PART_BYTES = 4 * 1024 * 1024
const LINE_FEED = 0x0a

/**
 * Implements `eyrie backup`: writes an encrypted archive with a snapshot of the database, and
 * the files of the data folder that Eyrie cannot recreate. Eyrie may be running. Returns the
 * manifest of the archive.
 */
export async function backUp(
  target: ConnectionTarget,
  dataFolder: string,
  archivePath: string,
  passphrase: string,
): Promise<Manifest> {
  await assertWritable(archivePath)
  const archive = createArchive(archivePath, await createEncryptor(passphrase))

  try {
    const contents = await writeContents(target, dataFolder, archive)
    const manifest: Manifest = {
      format: FORMAT,
      made_at: new Date().toISOString(),
      version: readVersion(),
      ...contents,
      paths: [...BACKED_UP_PATHS],
      entries: { ...archive.entries },
    }

    await archive.add(MANIFEST, Buffer.from(JSON.stringify(manifest, null, 2)))
    await archive.finish()
    await recordBackup(target)
    return manifest
  } catch (error) {
    await archive.abandon()

    const explanation = explainFileError(error, archivePath)
    if (explanation) throw new Error(explanation, { cause: error })
    throw error
  }
}

/** Stores when the backup was finished, so that management notices when the next one is overdue. */
async function recordBackup(target: ConnectionTarget): Promise<void> {
  const sql = await connectUnprivileged(target)
  const value = { finished_at: new Date().toISOString() }
  try {
    await withTransaction(
      sql,
      () => sql`insert into setting (name, value) values (${NEWEST_BACKUP}, ${sql.json(value)})
        on conflict (name) do update set value = excluded.value`,
      { settings: { 'eyrie.scope': 'all' } },
    )
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Rejects an unusable path before the backup starts. */
async function assertWritable(path: string): Promise<void> {
  const [folder, existing] = await Promise.all([
    stat(dirname(path)).catch(ignoreMissing),
    stat(path).catch(ignoreMissing),
  ])

  if (!folder?.isDirectory()) {
    throw new Error(`the folder ${dirname(path)} does not exist: create it, or name another file`)
  }
  if (existing?.isDirectory()) throw new Error(`${path} is a folder: name a file in it`)
}

async function writeContents(
  target: ConnectionTarget,
  dataFolder: string,
  archive: ArchiveWriter,
): Promise<TableContents> {
  const sql = await connectUnprivileged(target)
  try {
    return await withSnapshot(sql, async () => {
      // The snapshot starts with this query. Rows that are inserted later, and their files,
      // belong to the next backup.
      const [newest] = await sql<
        { schema: string }[]
      >`select max(created_at) as schema from migration`

      for (const file of await listFiles(dataFolder)) {
        await archive.addFile(toFileEntry(file), join(dataFolder, file))
      }
      const tables = await writeTables(sql, archive)

      const partitions = await sql.unsafe<{ name: string }[]>(LIST_PARTITIONS)
      const eventWeeks = partitions.map(({ name }) => parseFirstDay(name))

      return { schema: Number(newest?.schema), tables, event_weeks: eventWeeks }
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function writeTables(sql: Sql, archive: ArchiveWriter): Promise<Manifest['tables']> {
  const tables: Manifest['tables'] = []
  for (const table of await listTables(sql)) {
    const { parts, rows } = await writeTable(sql, archive, table)
    tables.push({ ...table, parts, rows })
  }
  return tables
}

/**
 * Adds the rows of a table to the archive, in parts that fit into memory. Returns the
 * numbers of parts and rows.
 */
async function writeTable(
  sql: ISql,
  archive: ArchiveWriter,
  { name, columns }: Table,
): Promise<{ parts: number; rows: number }> {
  const quotedColumns = columns.map(column => `"${column}"`).join(', ')
  const stream = await sql
    .unsafe(`copy (select ${quotedColumns} from "${name}") to stdout`)
    .readable()

  let parts = 0
  let rows = 0
  for await (const part of splitIntoParts(stream)) {
    await archive.add(toTableEntry(name, parts), part)
    parts += 1
    rows += countRows(part)
  }
  return { parts, rows }
}

/**
 * Counts the rows in the output of COPY, which ends each row with a line feed and escapes
 * line feeds in values.
 */
function countRows(copyOutput: Buffer): number {
  return copyOutput.filter(byte => byte === LINE_FEED).length
}

/** Joins the chunks of a stream to parts of at least `PART_BYTES`, except for the last part. */
async function* splitIntoParts(stream: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let size = 0

  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= PART_BYTES) {
      yield Buffer.concat(chunks)
      chunks = []
      size = 0
    }
  }

  if (size > 0) yield Buffer.concat(chunks)
}

/** Returns the version of this release of Eyrie. */
function readVersion(): string {
  const file = resolve(import.meta.dirname, '../../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
