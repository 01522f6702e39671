import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivateFolder } from '@eyrie/kit/private-folder'

/**
 * The folder of the rings, which are files with decoded frames. Readers in other
 * processes access the files.
 */
export interface RingFolder {
  /**
   * Creates the folder, which only this user can enter. Removes rings that remain from a crash.
   * Throws an `Error` if another user could have created the folder, or could replace it.
   */
  open(): Promise<void>
  /**
   * Returns the path and generation of a new ring. Generations are unique, also across
   * restarts of the service: a reader that has opened the ring of an earlier run recognizes
   * that the new one is another.
   */
  allocate(source: number): { path: string; generation: number }
  /**
   * Removes the rings. The folder is also removed, unless it is a mount point or
   * contains other files.
   */
  close(): Promise<void>
}

const SUFFIX = '.ring'

/** `epoch` identifies this run of the service, and is greater than that of earlier runs. */
export function createRingFolder(folder: string, epoch: number): RingFolder {
  let generation = epoch

  async function removeRings() {
    // The engine, which shares the folder, may have removed it.
    const names = await readdir(folder).catch(() => [])
    const rings = names.filter(name => name.includes(SUFFIX))
    await Promise.all(rings.map(name => rm(join(folder, name), { force: true })))
  }

  return {
    async open() {
      await createPrivateFolder(folder)
      await removeRings()
    },
    allocate(source) {
      generation++
      return { path: join(folder, `source-${source}-${generation}${SUFFIX}`), generation }
    },
    async close() {
      await removeRings()
      await rmdir(folder).catch(() => {})
    },
  }
}
