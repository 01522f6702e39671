import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { syncFolder } from '@eyrie/kit'
import { type Header, pack } from 'tar-stream'
import { ignoreMissing } from './data-files.ts'
import { hashing } from './hashing.ts'

/** A gzipped tar archive that is being written. */
export interface ArchiveWriter {
  add(name: string, content: Uint8Array): Promise<void>
  /** A file as long as it is when this begins; one that has gone meanwhile is left out. */
  addFile(name: string, path: string): Promise<void>
  /** SHA-256 of what has been added, by name. */
  readonly entries: Readonly<Record<string, string>>
  /** Gives the archive its name, once it is on the disk. */
  finish(): Promise<void>
  /** Leaves nothing of it. */
  abandon(): Promise<void>
}

/** Its owner alone can read it: it holds every secret of the installation. */
export function createArchive(path: string): ArchiveWriter {
  const draft = `${path}.part`
  const archive = pack()
  const entries: Record<string, string> = {}
  const written = pipeline(
    archive as unknown as Readable,
    createGzip(),
    createWriteStream(draft, { mode: 0o600 }),
  )
  let failure: unknown
  written.catch(error => {
    failure = error
  })

  async function write(header: Partial<Header> & { name: string }, content: Readable): Promise<void> {
    const { passing, sha256 } = hashing()
    const { promise: added, resolve, reject } = Promise.withResolvers<void>()
    try {
      const entry = archive.entry(header, error => (error ? reject(error) : resolve()))
      const closed = written.then(() => Promise.reject(new Error('the archive is closed')))
      await Promise.race([Promise.all([pipeline(content, passing, entry), added]), closed])
    } catch (error) {
      // Why nothing can be written explains more than that nothing can be.
      throw failure ?? error
    }
    entries[header.name] = sha256()
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
      const file = await open(draft, 'r')
      await file.sync()
      await file.close()
      await rename(draft, path)
      await syncFolder(dirname(path))
    },
    async abandon() {
      archive.destroy()
      await written.catch(() => {})
      await rm(draft, { force: true })
    },
  }
}
