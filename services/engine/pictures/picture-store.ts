import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '@eyrie/kit/durable-file'

const SUFFIX = '.jpg'

/**
 * Stores the pictures of events on disk. The key of a picture is its SHA-256. When the space is
 * used up, the oldest pictures are deleted.
 */
export interface PictureStore {
  /** Reads the list of stored pictures. Must be called before the other methods. */
  open(): Promise<void>
  /**
   * Writes a picture durably to disk and returns its SHA-256. Rejects if the disk fails or is full.
   */
  save(jpeg: Uint8Array): Promise<string>
  /** Returns undefined if the picture does not exist or has been deleted. */
  read(sha256: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  /**
   * Returns why the last picture could not be saved; undefined if it was saved. A full disk is no
   * failure, because the engine watches the free space itself. A failure would remain until the
   * next picture is saved, perhaps long after there is space again.
   */
  failure(): string | undefined
}

export function createPictureStore(folder: string, maxBytes: number): PictureStore {
  const index = new PictureIndex()
  let failure: string | undefined
  /**
   * Writes in progress by SHA-256. Two channels of a source may save the same
   * picture at the same time.
   */
  const writes = new Map<string, Promise<void>>()

  const toPath = (sha256: string) => join(folder, sha256 + SUFFIX)

  /** Deletes the oldest pictures until the others fit into the available space. */
  async function deleteOldest(): Promise<void> {
    for (const oldest of index.list()) {
      if (index.usedBytes <= maxBytes) return
      index.remove(oldest)
      await rm(toPath(oldest), { force: true })
    }
  }

  async function write(sha256: string, jpeg: Uint8Array): Promise<void> {
    failure = undefined
    await writeDurably(toPath(sha256), jpeg).catch(error => {
      if (error.code !== 'ENOSPC') {
        failure = `pictures of events cannot be saved (${error.code}): check that the engine may write to ${folder}`
      }
      throw error
    })
    index.add(sha256, jpeg.length)
    await deleteOldest()
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const { name, size } of await listFilesByAge(folder)) {
        if (name.endsWith(SUFFIX)) index.add(name.slice(0, -SUFFIX.length), size)
        // The remainder of an interrupted write.
        else await rm(join(folder, name))
      }
      await deleteOldest()
    },
    save: async jpeg => {
      const sha256 = createHash('sha256').update(jpeg).digest('hex')
      const writing = writes.get(sha256) ?? write(sha256, jpeg).finally(() => writes.delete(sha256))
      writes.set(sha256, writing)
      await writing
      return sha256
    },
    read: async sha256 => {
      if (!index.has(sha256)) return undefined
      return Uint8Array.from(await readFile(toPath(sha256)))
    },
    failure: () => failure,
  }
}

/** The stored pictures, oldest first, and the space that they use. */
class PictureIndex {
  /** Size in bytes by SHA-256. */
  readonly #sizes = new Map<string, number>()
  #usedBytes = 0

  get usedBytes(): number {
    return this.#usedBytes
  }

  has(sha256: string): boolean {
    return this.#sizes.has(sha256)
  }

  list(): Iterable<string> {
    return this.#sizes.keys()
  }

  /** Adds a picture as the newest one, even if it is stored already. */
  add(sha256: string, size: number): void {
    this.remove(sha256)
    this.#sizes.set(sha256, size)
    this.#usedBytes += size
  }

  remove(sha256: string): void {
    this.#usedBytes -= this.#sizes.get(sha256) ?? 0
    this.#sizes.delete(sha256)
  }
}

/** Lists the files of a folder, oldest first. */
async function listFilesByAge(
  folder: string,
): Promise<{ name: string; size: number; mtimeMs: number }[]> {
  const names = await readdir(folder)
  const files = await Promise.all(
    names.map(async name => {
      const { size, mtimeMs } = await stat(join(folder, name))
      return { name, size, mtimeMs }
    }),
  )
  return files.sort((a, b) => a.mtimeMs - b.mtimeMs)
}
