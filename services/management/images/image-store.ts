import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import { writeDurably } from '@eyrie/kit'

/** Keeps images as files; their names are ours, so that none of them leads elsewhere. */
export interface ImageStore {
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Throws EyrieError `unavailable` where the file has gone. */
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
      return new Uint8Array(
        await readFile(join(folder, name)).catch(cause => {
          throw new EyrieError('unavailable', `the file of this image has gone from ${folder}`, { cause })
        }),
      )
    },
    async remove(name) {
      await rm(join(folder, name), { force: true })
    },
  }
}
