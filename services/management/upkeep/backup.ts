import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { ISql } from 'postgres'
import type { ConnectionTarget } from '../db/connection.ts'
import { connect } from '../db/connection.ts'
import { chooseRole } from '../db/role.ts'
import { withSnapshot } from '../db/transaction.ts'
import {
  type ArchiveWriter,
  createArchive,
  FORMAT,
  MANIFEST,
  type Manifest,
  toFileEntry,
  toTableEntry,
} from './archive.ts'
import { explainFileError, ignoreMissing, listFiles } from './data-files.ts'
import { listTables, type Table } from './tables.ts'

const PART_BYTES = 4 << 20
const LINE_FEED = 10

/**
 * Writes everything that an installation cannot recreate into one archive: the database as of one moment, and the files of
 * the data folder right after it. Management may be running. Returns the manifest of the archive.
 */
export async function backUp(target: ConnectionTarget, data: string, path: string): Promise<Manifest> {
  await assertWritable(path)
  const archive = createArchive(path)
  try {
    const manifest = await writeContents(target, data, archive)
    await archive.add(MANIFEST, Buffer.from(JSON.stringify(manifest, null, 2)))
    await archive.finish()
    return manifest
  } catch (error) {
    await archive.abandon()
    const explained = explainFileError(error, path)
    throw explained ? new Error(explained, { cause: error }) : error
  }
}

/** Checks the path before anything is read. */
async function assertWritable(path: string): Promise<void> {
  const [folder, existing] = await Promise.all([
    stat(dirname(path)).catch(ignoreMissing),
    stat(path).catch(ignoreMissing),
  ])
  if (!folder?.isDirectory())
    throw new Error(`the folder ${dirname(path)} does not exist: create it, or name another file`)
  if (existing?.isDirectory()) throw new Error(`${path} is a folder: name a file in it`)
}

async function writeContents(
  target: ConnectionTarget,
  data: string,
  archive: ArchiveWriter,
): Promise<Manifest> {
  const role = await chooseRole(target)
  const sql = connect(target, role ? { role } : {})
  try {
    const { schema, tables } = await withSnapshot(sql, async () => {
      const [newest] = await sql<{ schema: string }[]>`select max(created_at) as schema from migration`
      // Rows added after the snapshot, and their files, belong to the next backup.
      for (const file of await listFiles(data)) await archive.addFile(toFileEntry(file), join(data, file))
      const written = []
      for (const table of await listTables(sql)) written.push(await writeTable(sql, archive, table))
      return { schema: Number(newest?.schema), tables: written }
    })
    return {
      format: FORMAT,
      made_at: new Date().toISOString(),
      version: readVersion(),
      schema,
      tables,
      entries: { ...archive.entries },
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function writeTable(sql: ISql, archive: ArchiveWriter, { name, columns }: Table) {
  const query = `select ${columns.map(column => `"${column}"`).join(', ')} from "${name}"`
  const stream: Readable = await sql.unsafe(`copy (${query}) to stdout`).readable()
  let parts = 0
  let rows = 0
  let pendingBytes = 0
  let pending: Buffer[] = []
  async function flush() {
    await archive.add(toTableEntry(name, parts), Buffer.concat(pending))
    parts += 1
    pending = []
    pendingBytes = 0
  }
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    // Every row ends with a line feed; COPY escapes those inside of values.
    rows += chunk.filter(byte => byte === LINE_FEED).length
    pendingBytes += chunk.length
    pending.push(chunk)
    if (pendingBytes >= PART_BYTES) await flush()
  }
  if (pendingBytes > 0) await flush()
  return { name, columns, parts, rows }
}

function readVersion(): string {
  const file = resolve(import.meta.dirname, '../../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
