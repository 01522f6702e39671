import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { ISql } from 'postgres'
import type { ConnectionTarget } from '../db/connection.ts'
import { connect } from '../db/connection.ts'
import { chooseRole } from '../db/role.ts'
import { withSnapshot } from '../db/transaction.ts'
import { type ArchiveWriter, createArchive } from './archive-writer.ts'
import { ignoreAbsence, listFiles } from './data-files.ts'
import { explainFile } from './file-errors.ts'
import { FORMAT, fileEntry, MANIFEST, type Manifest, tableEntry } from './manifest.ts'
import { listTables, type Table } from './tables.ts'

const PART_BYTES = 4 << 20
const LINE_FEED = 10

/**
 * Writes everything that an installation cannot make anew into one archive, while it may be running: the database as it is
 * at one moment, and the files of the data folder as they are right after it. Returns what it holds.
 */
export async function backUp(target: ConnectionTarget, data: string, path: string): Promise<Manifest> {
  await requireWritable(path)
  const archive = createArchive(path)
  try {
    const role = await chooseRole(target)
    const sql = connect(target, role ? { role } : {})
    try {
      const { schema, tables } = await withSnapshot(sql, async () => {
        const [last] = await sql<{ schema: string }[]>`select max(created_at) as schema from migration`
        // The snapshot is taken: rows that come from now on, and their files, belong to the next backup.
        for (const file of await listFiles(data)) await archive.addFile(fileEntry(file), join(data, file))
        const written = []
        for (const table of await listTables(sql)) written.push(await writeTable(sql, archive, table))
        return { schema: Number(last?.schema), tables: written }
      })
      const { entries } = archive
      const made_at = new Date().toISOString()
      const described: Manifest = {
        format: FORMAT,
        made_at,
        version: release(),
        schema,
        tables,
        entries: { ...entries },
      }
      await archive.add(MANIFEST, Buffer.from(JSON.stringify(described, null, 2)))
      await archive.finish()
      return described
    } finally {
      await sql.end({ timeout: 1 })
    }
  } catch (error) {
    await archive.abandon()
    const explained = explainFile(error, path)
    throw explained ? new Error(explained, { cause: error }) : error
  }
}

/** Before anything is read: what is wrong with the file's name. */
async function requireWritable(path: string): Promise<void> {
  const [folder, there] = await Promise.all([
    stat(dirname(path)).catch(ignoreAbsence),
    stat(path).catch(ignoreAbsence),
  ])
  if (!folder?.isDirectory())
    throw new Error(`there is no folder ${dirname(path)}: make it, or name another file`)
  if (there?.isDirectory()) throw new Error(`${path} is a folder: name a file in it`)
}

async function writeTable(sql: ISql, archive: ArchiveWriter, { name, columns }: Table) {
  const rows = `select ${columns.map(column => `"${column}"`).join(', ')} from "${name}"`
  const stream: Readable = await sql.unsafe(`copy (${rows}) to stdout`).readable()
  let [parts, lines, bytes] = [0, 0, 0]
  let chunks: Buffer[] = []
  const flush = async () => {
    await archive.add(tableEntry(name, parts), Buffer.concat(chunks))
    parts += 1
    chunks = []
    bytes = 0
  }
  // A row ends with a line feed, and COPY writes no other.
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    lines += chunk.filter(byte => byte === LINE_FEED).length
    bytes += chunk.length
    chunks.push(chunk)
    if (bytes >= PART_BYTES) await flush()
  }
  if (bytes > 0) await flush()
  return { name, columns, parts, rows: lines }
}

function release(): string {
  const file = resolve(import.meta.dirname, '../../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
