import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '@eyrie/kit/durable-file'

const SUFFIX = '.jpg'

/** Stores pictures of events under the SHA-256 of their bytes. When the space is used up, the oldest are deleted. */
export interface PictureStore {
  open(): Promise<void>
  /** Returns the SHA-256 of the picture after it is durable on disk. Rejects if the disk fails or is full. */
  save(jpeg: Uint8Array): Promise<string>
  /** Undefined if the picture was never stored or has been deleted. */
  read(sha256: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Why the last picture could not be saved; undefined if it was. */
  failure(): string | undefined
}

export function createPictureStore(folder: string, maxBytes: number): PictureStore {
  /** Sizes by name, oldest first. */
  const sizes = new Map<string, number>()
  let usedBytes = 0
  let failure: string | undefined
  /** Writes in progress: two channels of one source may save the same picture at once. */
  const saving = new Map<string, Promise<void>>()

  const toPath = (sha256: string) => join(folder, sha256 + SUFFIX)
  const removeFromIndex = (sha256: string) => {
    usedBytes -= sizes.get(sha256) ?? 0
    sizes.delete(sha256)
  }
  const addToIndex = (sha256: string, size: number) => {
    removeFromIndex(sha256)
    sizes.set(sha256, size)
    usedBytes += size
  }
  const deleteOldest = async () => {
    for (const oldest of sizes.keys()) {
      if (usedBytes <= maxBytes) return
      removeFromIndex(oldest)
      await rm(toPath(oldest), { force: true })
    }
  }
  const write = async (sha256: string, jpeg: Uint8Array) => {
    failure = undefined
    await writeDurably(toPath(sha256), jpeg).catch(error => {
      failure = `pictures of events cannot be kept (${error.code}): free some space in ${folder}`
      throw error
    })
    addToIndex(sha256, jpeg.length)
    await deleteOldest()
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const names = await readdir(folder)
      const files = await Promise.all(
        names.map(async name => {
          const { size, mtimeMs } = await stat(join(folder, name))
          return { name, size, mtimeMs }
        }),
      )
      for (const { name, size } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
        if (name.endsWith(SUFFIX)) addToIndex(name.slice(0, -SUFFIX.length), size)
        else await rm(join(folder, name))
      }
      await deleteOldest()
    },
    save: async jpeg => {
      const sha256 = createHash('sha256').update(jpeg).digest('hex')
      const written = saving.get(sha256) ?? write(sha256, jpeg).finally(() => saving.delete(sha256))
      saving.set(sha256, written)
      await written
      return sha256
    },
    read: async sha256 => (sizes.has(sha256) ? Uint8Array.from(await readFile(toPath(sha256))) : undefined),
    failure: () => failure,
  }
}
