import { chmod, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The folder of the frame rings. */
export interface RingFolder {
  /** Makes it, and removes what a crash has left in it. */
  open(): Promise<void>
  /** Where the next ring goes. A generation is never used twice while the service runs. */
  next(source: number): { path: string; generation: number }
  /** Removes the folder, unless it is a mount or others use it too. */
  close(): Promise<void>
}

const SUFFIX = '.ring'

export function createRingFolder(folder: string): RingFolder {
  let generation = 0

  async function clear() {
    const stale = (await readdir(folder)).filter(name => name.includes(SUFFIX))
    await Promise.all(stale.map(name => rm(join(folder, name), { force: true })))
  }

  return {
    async open() {
      await mkdir(folder, { recursive: true })
      await chmod(folder, 0o750)
      await clear()
    },
    next(source) {
      generation++
      return { path: join(folder, `source-${source}-${generation}${SUFFIX}`), generation }
    },
    async close() {
      await clear()
      await rmdir(folder).catch(() => {})
    },
  }
}
