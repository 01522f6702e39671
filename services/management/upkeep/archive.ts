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
import { EARLIER_PATHS, explainFileError, ignoreMissing } from './data-files.ts'
import { createDecryption, readEncryptionHeader } from './encryption.ts'

// A backup is an encrypted, gzipped tar archive; those of earlier releases are not encrypted. It
// contains the rows of each table in one or more parts, files of the data folder, and a manifest.
// The manifest is the last entry, so that an incomplete archive is detected.

/** Version of the archive format. */
export const FORMAT = 1

export const MANIFEST = 'manifest.json'

/** The part of a file mode that contains the permissions. */
const PERMISSION_BITS = 0o777
/** Matches names of entries. Rejects names with `.` or `..`, which could be outside the folder. */
const ENTRY_NAME = /^(files|database)\/(?!.*(^|\/)\.\.?(\/|$))|^manifest\.json$/
/** Descriptions of zlib errors by error code. */
const ZLIB_ERRORS: Record<string, string> = {
  Z_DATA_ERROR: 'it is not a gzip archive, or it is damaged',
  Z_BUF_ERROR: 'it is truncated or empty',
}

/** Names of tables and columns, which become part of SQL statements. */
const sqlName = z.string().regex(/^[a-z_][a-z0-9_]*$/)

/** The contents of the manifest. */
export const manifest = z.strictObject({
  format: z.literal(FORMAT, {
    error: 'this release cannot read the format of the backup: use the release that created it',
  }),
  made_at: z.iso.datetime(),
  /** Release that created the backup. */
  version: z.string(),
  /**
   * Version of the database schema: when its newest migration was created, in epoch milliseconds.
   */
  schema: z.int(),
  /**
   * The tables in any order, with the numbers of parts and rows. Parts contain rows in the
   * text format of COPY.
   */
  tables: z.array(
    z.strictObject({
      name: sqlName,
      columns: z.array(sqlName),
      parts: z.int().min(0),
      rows: z.int(),
    }),
  ),
  /** First days of the weeks with a partition of events. Earlier releases did not list them. */
  event_weeks: z.array(z.iso.date()).default([]),
  /** The files and folders that a restore replaces. Deletes them if the backup has none. */
  paths: z.array(z.string()).default([...EARLIER_PATHS]),
  /** SHA-256 of each entry by its name. */
  entries: z.record(z.string(), z.string()),
})
export type Manifest = z.infer<typeof manifest>

/** Returns the name of the entry for a file of the data folder. */
export const toFileEntry = (path: string) => `files/${path}`

/** Returns the name of the entry for a part of a table. */
export const toTableEntry = (name: string, part: number) => `database/${name}/${part}`

/** Writes an archive under a temporary name until it is complete. */
export interface ArchiveWriter {
  add(name: string, content: Uint8Array): Promise<void>
  /** Adds a file. Skips a missing file, and bytes that are appended during the call. */
  addFile(name: string, path: string): Promise<void>
  /** SHA-256 of the added entries by name. */
  readonly entries: Readonly<Record<string, string>>
  /** Makes the archive durable and renames it to its final name. */
  finish(): Promise<void>
  /** Deletes the unfinished archive. */
  abandon(): Promise<void>
}

/**
 * Creates an archive, which only its owner can read. `encryptor`: a stream that
 * encrypts the whole archive.
 */
export function createArchive(path: string, encryptor: Transform): ArchiveWriter {
  const unfinished = `${path}.part`
  const archive = pack()
  const entries: Record<string, string> = {}
  const written = pipeline(
    archive as unknown as Readable,
    createGzip(),
    encryptor,
    createWriteStream(unfinished, { mode: 0o600 }),
  )
  let writeError: unknown
  written.catch(error => {
    writeError = error
  })

  /** Writes one entry, and computes its checksum on the way. */
  async function write(
    header: Partial<Header> & { name: string },
    content: Readable,
  ): Promise<void> {
    const { hasher, digest } = createHasher()
    const { promise: added, resolve, reject } = Promise.withResolvers<void>()
    try {
      const entry = archive.entry(header, error => (error ? reject(error) : resolve()))
      const finished = Promise.all([pipeline(content, hasher, entry), added])
      // tar-stream does not finish an entry after its archive was closed.
      const closed = written.then(() => Promise.reject(new Error('the archive is closed')))
      await Promise.race([finished, closed])
    } catch (error) {
      // If writing the archive failed, the error of the entry is only a consequence.
      throw writeError ?? error
    }
    entries[header.name] = digest()
  }

  return {
    entries,
    add: (name, content) =>
      write(
        { name, size: content.length, mode: 0o600 },
        Readable.from([content], { objectMode: false }),
      ),

    async addFile(name, path) {
      const file = await open(path).catch(ignoreMissing)
      if (!file) return
      try {
        const { size, mode, mtime } = await file.stat()
        // `end` is inclusive, so an empty file cannot be read this way.
        const content =
          size > 0 ? file.createReadStream({ end: size - 1, autoClose: false }) : Readable.from([])
        await write({ name, size, mode: mode & PERMISSION_BITS, mtime }, content)
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
 * Decrypts and unpacks a backup into an empty folder, verifies the checksum of every entry and
 * returns the manifest. Throws an error that explains what is wrong with the archive; the caller
 * must then delete the folder. Without a passphrase, the backup must not be encrypted, and with one
 * it must be: otherwise somebody could replace it by an archive of their own.
 */
export async function unpack(
  path: string,
  folder: string,
  passphrase: string | undefined,
): Promise<Manifest> {
  const checksums: Record<string, string> = {}
  const entries = extract()

  try {
    const streams = await openArchive(path, passphrase)
    const read = pipeline([...streams, createGunzip(), entries as unknown as NodeJS.WritableStream])
    // Makes the loop below throw the error.
    read.catch(error => entries.destroy(error))

    for await (const entry of entries) {
      const { name, type, mode } = entry.header
      if (type !== 'file' || !ENTRY_NAME.test(name)) {
        throw new Error(`it contains ${JSON.stringify(name)}, which is not part of a backup`)
      }

      const { hasher, digest } = createHasher()
      await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
      const file = createWriteStream(join(folder, name), {
        mode: (mode ?? 0o600) & PERMISSION_BITS,
        flags: 'wx',
      })
      await pipeline(entry, hasher, file)
      checksums[name] = digest()
    }
    await read
    return await verifyManifest(folder, checksums)
  } catch (cause) {
    throw new Error(describeUnpackError(cause as NodeJS.ErrnoException, path, folder), { cause })
  }
}

/** Returns streams that read the archive and decrypt it if necessary. */
async function openArchive(path: string, passphrase: string | undefined) {
  const header = await readEncryptionHeader(path)
  if (header) {
    if (passphrase === undefined) throw new Error('it is encrypted, and its passphrase is missing')
    return createDecryption(path, header, passphrase)
  }
  if (passphrase !== undefined) {
    throw new Error(
      'it is not encrypted, although there is a passphrase: omit it if you trust the file',
    )
  }
  return [createReadStream(path)]
}

function describeUnpackError(error: NodeJS.ErrnoException, path: string, folder: string): string {
  const { code = '', syscall, message } = error
  const isWriteError = syscall === 'write' || code === 'ENOSPC'
  const fileError = explainFileError(error, isWriteError ? folder : path)
  return (
    fileError ?? `${path} is not a backup that can be restored: ${ZLIB_ERRORS[code] ?? message}`
  )
}

/**
 * Reads the manifest, compares its checksums with those of the unpacked entries, and its
 * tables with their parts.
 */
async function verifyManifest(
  folder: string,
  { [MANIFEST]: manifestChecksum, ...checksums }: Record<string, string>,
): Promise<Manifest> {
  if (!manifestChecksum) throw new Error('it has no manifest, so it is incomplete')

  const text = await readFile(join(folder, MANIFEST), 'utf8')
  const parsed = parseAs(manifest, JSON.parse(text))
  const names = new Set([...Object.keys(checksums), ...Object.keys(parsed.entries)])
  for (const name of names) {
    if (checksums[name] !== parsed.entries[name]) {
      throw new Error(`the checksum of ${name} does not match`)
    }
  }
  for (const { name, parts } of parsed.tables) {
    for (let part = 0; part < parts; part++) {
      if (!names.has(toTableEntry(name, part))) {
        throw new Error(`${toTableEntry(name, part)} is missing`)
      }
    }
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
