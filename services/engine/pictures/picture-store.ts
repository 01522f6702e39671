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
   * Returns the reason why the last picture could not be saved; undefined if it was saved. A full
   * disk is not a reason: the engine watches the free space, and the next picture may come much
   * later than the space.
   */
  failure(): string | undefined
}

export function createPictureStore(folder: string, maxBytes: number): PictureStore {
  /** Size in bytes by SHA-256, oldest picture first. */
  const sizes = new Map<string, number>()
  let usedBytes = 0
  let failure: string | undefined
  /**
   * Writes in progress by SHA-256. Two channels of a source may save the same
   * picture at the same time.
   */
  const saving = new Map<string, Promise<void>>()

  const toPath = (sha256: string) => join(folder, sha256 + SUFFIX)

  function removeFromIndex(sha256: string): void {
    usedBytes -= sizes.get(sha256) ?? 0
    sizes.delete(sha256)
  }

  function addToIndex(sha256: string, size: number): void {
    removeFromIndex(sha256)
    sizes.set(sha256, size)
    usedBytes += size
  }

  /** Deletes the oldest pictures until the others fit into the available space. */
  async function deleteOldest(): Promise<void> {
    for (const oldest of sizes.keys()) {
      if (usedBytes <= maxBytes) return
      removeFromIndex(oldest)
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
    addToIndex(sha256, jpeg.length)
    await deleteOldest()
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const { name, size } of await listFilesByAge(folder)) {
        if (name.endsWith(SUFFIX)) addToIndex(name.slice(0, -SUFFIX.length), size)
        // The remainder of an interrupted write.
        else await rm(join(folder, name))
      }
      await deleteOldest()
    },
    save: async jpeg => {
      const sha256 = createHash('sha256').update(jpeg).digest('hex')
      const writing = saving.get(sha256) ?? write(sha256, jpeg).finally(() => saving.delete(sha256))
      saving.set(sha256, writing)
      await writing
      return sha256
    },
    read: async sha256 => {
      if (!sizes.has(sha256)) return undefined
      return Uint8Array.from(await readFile(toPath(sha256)))
    },
    failure: () => failure,
  }
}

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
