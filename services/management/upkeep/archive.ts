import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { parseAs } from '@eyrie/contract/parse'
import { syncFolder } from '@eyrie/kit'
import { extract, type Header, pack } from 'tar-stream'
import { z } from 'zod'
import { explainFileError, ignoreMissing } from './data-files.ts'

/** Version of the archive format. */
export const FORMAT = 1

export const MANIFEST = 'manifest.json'

/** The last entry of a backup. It lists all others, so that a truncated archive is detected. */
export const manifest = z.strictObject({
  format: z.literal(FORMAT, {
    error: 'this release cannot read the format of the backup: use the release that created it',
  }),
  made_at: z.iso.datetime(),
  /** Release that created the backup. */
  version: z.string(),
  /** When the newest migration of the database was created, in epoch milliseconds. */
  schema: z.int(),
  /** In any order. `database/<name>/<part>` contains rows as COPY writes them. */
  tables: z.array(
    z.strictObject({ name: z.string(), columns: z.array(z.string()), parts: z.int(), rows: z.int() }),
  ),
  /** SHA-256 of each entry by its name. */
  entries: z.record(z.string(), z.string()),
})
export type Manifest = z.infer<typeof manifest>

/** Name of the entry for a file of the data folder. */
export const toFileEntry = (path: string) => `files/${path}`

export const toTableEntry = (name: string, part: number) => `database/${name}/${part}`

const ENTRY_NAME = /^(files|database)\/(?!.*(^|\/)\.\.?(\/|$))|^manifest\.json$/

/** Writes a gzipped tar archive. */
export interface ArchiveWriter {
  add(name: string, content: Uint8Array): Promise<void>
  /** Adds a file up to its length at the start of the call. A missing file is skipped. */
  addFile(name: string, path: string): Promise<void>
  /** SHA-256 of the added entries by name. */
  readonly entries: Readonly<Record<string, string>>
  /** Flushes the archive to the disk and renames it to its final name. */
  finish(): Promise<void>
  /** Deletes the unfinished archive. */
  abandon(): Promise<void>
}

/** Creates an archive that only its owner can read, because it contains all secrets of the installation. */
export function createArchive(path: string): ArchiveWriter {
  const unfinished = `${path}.part`
  const archive = pack()
  const entries: Record<string, string> = {}
  const written = pipeline(
    archive as unknown as Readable,
    createGzip(),
    createWriteStream(unfinished, { mode: 0o600 }),
  )
  let failure: unknown
  written.catch(error => {
    failure = error
  })

  async function write(header: Partial<Header> & { name: string }, content: Readable): Promise<void> {
    const { hasher, digest } = createHasher()
    const { promise: added, resolve, reject } = Promise.withResolvers<void>()
    try {
      const entry = archive.entry(header, error => (error ? reject(error) : resolve()))
      const closed = written.then(() => Promise.reject(new Error('the archive is closed')))
      await Promise.race([Promise.all([pipeline(content, hasher, entry), added]), closed])
    } catch (error) {
      // The failure of the file explains more than that of the entry, which follows from it.
      throw failure ?? error
    }
    entries[header.name] = digest()
  }

  return {
    entries,
    add: (name, content) =>
      write({ name, size: content.length, mode: 0o600 }, Readable.from([content], { objectMode: false })),
    async addFile(name, path) {
      const file = await open(path).catch(ignoreMissing)
      if (!file) return
      try {
        const { size, mode, mtime } = await file.stat()
        const content =
          size > 0 ? file.createReadStream({ end: size - 1, autoClose: false }) : Readable.from([])
        await write({ name, size, mode: mode & 0o777, mtime }, content)
      } finally {
        await file.close()
      }
    },
    async finish() {
      archive.finalize()
      await written
      const file = await open(unfinished, 'r')
      await file.sync()
      await file.close()
      await rename(unfinished, path)
      await syncFolder(dirname(path))
    },
    async abandon() {
      archive.destroy()
      await written.catch(() => {})
      await rm(unfinished, { force: true })
    },
  }
}

/**
 * Unpacks a backup into an empty folder and returns its manifest once every entry matches its checksum. Throws an Error
 * that explains what is wrong with the archive; the caller deletes what was unpacked until then.
 */
export async function unpack(path: string, folder: string): Promise<Manifest> {
  const checksums: Record<string, string> = {}
  const entries = extract()
  const read = pipeline(createReadStream(path), createGunzip(), entries as unknown as NodeJS.WritableStream)
  // The loop below then throws this error.
  read.catch(error => entries.destroy(error))
  try {
    for await (const entry of entries) {
      const { name, type, mode } = entry.header
      if (type !== 'file' || !ENTRY_NAME.test(name))
        throw new Error(`it contains ${JSON.stringify(name)}, which is not part of a backup`)
      const { hasher, digest } = createHasher()
      await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
      const file = createWriteStream(join(folder, name), { mode: mode ?? 0o600, flags: 'wx' })
      await pipeline(entry, hasher, file)
      checksums[name] = digest()
    }
    await read
    return await verifyManifest(folder, checksums)
  } catch (cause) {
    const { code = '', syscall } = cause as NodeJS.ErrnoException
    const isWriteError = syscall === 'write' || code === 'ENOSPC'
    const fileError = explainFileError(cause, isWriteError ? folder : path)
    const reason = damages[code] ?? (cause as Error).message
    throw new Error(fileError ?? `${path} is not a backup that can be restored: ${reason}`, { cause })
  }
}

/** By error code of zlib. */
const damages: Record<string, string> = {
  Z_DATA_ERROR: 'it is not a gzip archive, or it is damaged',
  Z_BUF_ERROR: 'it is truncated or empty',
}

async function verifyManifest(
  folder: string,
  { [MANIFEST]: manifestChecksum, ...checksums }: Record<string, string>,
): Promise<Manifest> {
  if (!manifestChecksum) throw new Error('it has no manifest, so writing it was not completed')
  const parsed = parseAs(manifest, JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')))
  for (const name of new Set([...Object.keys(checksums), ...Object.keys(parsed.entries)])) {
    if (checksums[name] !== parsed.entries[name]) throw new Error(`the checksum of ${name} does not match`)
  }
  return parsed
}

/** Returns a stream that passes bytes through, and a function that returns their SHA-256 in hex. */
function createHasher() {
  const hash = createHash('sha256')
  const hasher = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return { hasher, digest: () => hash.digest('hex') }
}
