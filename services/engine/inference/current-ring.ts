import type { WorkerPool } from './worker-pool.ts'

/** Tracks the ring that a model reads. Workers keep a ring open until they are notified that it is no longer read. */
export function createCurrentRing(pool: WorkerPool): { switchTo(path: string | undefined): void } {
  let currentPath: string | undefined
  return {
    switchTo: path => {
      const previousPath = currentPath
      currentPath = path
      if (!previousPath || previousPath === path) return
      for (const worker of pool.workers()) worker.notify({ type: 'close-ring', ring: previousPath })
    },
  }
}
