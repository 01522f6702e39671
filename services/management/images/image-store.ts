import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import { writeDurably } from '@eyrie/kit'

/**
 * Stores images as files in one folder. `name` becomes the file name, so it must be generated and
 * never come from a request.
 */
export interface ImageStore {
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Throws `EyrieError` (`unavailable`) when the file is missing. */
  read(name: string): Promise<Uint8Array<ArrayBuffer>>
  remove(name: string): Promise<void>
}

export function createImageStore(folder: string): ImageStore {
  return {
    async write(name, bytes) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeDurably(join(folder, name), bytes)
    },
    async read(name) {
      const bytes = await readFile(join(folder, name)).catch(cause => {
        throw new EyrieError('unavailable', `the file of this image is missing in ${folder}`, {
          cause,
        })
      })
      return new Uint8Array(bytes)
    },
    async remove(name) {
      await rm(join(folder, name), { force: true })
    },
  }
}
