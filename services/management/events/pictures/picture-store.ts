import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '@eyrie/kit/durable-file'

/** Pictures as files, each named by the SHA-256 of its bytes. */
export interface PictureStore {
  keep(sha256: string, jpeg: Uint8Array): Promise<void>
  /** Undefined if it is not kept. */
  read(sha256: string): Promise<Uint8Array | undefined>
  remove(sha256: string): Promise<void>
}

export function createPictureStore(folder: string): PictureStore {
  // No folder grows too large to be listed.
  const home = (sha256: string) => join(folder, sha256.slice(0, 2))
  const path = (sha256: string) => join(home(sha256), `${sha256}.jpg`)
  return {
    async keep(sha256, jpeg) {
      await mkdir(home(sha256), { recursive: true, mode: 0o700 })
      await writeDurably(path(sha256), jpeg)
    },
    read: sha256 => readFile(path(sha256)).catch(ignoreAbsence),
    remove: sha256 => rm(path(sha256), { force: true }),
  }
}

function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
