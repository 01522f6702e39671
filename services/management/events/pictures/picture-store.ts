import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '@eyrie/kit/durable-file'

/** Stores pictures as files, named by the SHA-256 of their content. */
export interface PictureStore {
  write(sha256: string, jpeg: Uint8Array): Promise<void>
  /** Resolves to the JPEG, or to undefined for an unknown picture. */
  read(sha256: string): Promise<Uint8Array | undefined>
  remove(sha256: string): Promise<void>
}

export function createPictureStore(folder: string): PictureStore {
  // 256 sub-folders keep each folder small enough to list.
  const toFolder = (sha256: string) => join(folder, sha256.slice(0, 2))
  const toPath = (sha256: string) => join(toFolder(sha256), `${sha256}.jpg`)
  // Notifications of one moment share a picture, and each may store it: two writes to one file
  // would disturb each other.
  const runningWrites = new Map<string, Promise<void>>()
  const writeFile = async (sha256: string, jpeg: Uint8Array) => {
    try {
      await mkdir(toFolder(sha256), { recursive: true, mode: 0o700 })
      await writeDurably(toPath(sha256), jpeg)
    } finally {
      runningWrites.delete(sha256)
    }
  }
  return {
    write(sha256, jpeg) {
      const write = runningWrites.get(sha256) ?? writeFile(sha256, jpeg)
      runningWrites.set(sha256, write)
      return write
    },
    read: sha256 =>
      readFile(toPath(sha256)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      }),
    remove: sha256 => rm(toPath(sha256), { force: true }),
  }
}
