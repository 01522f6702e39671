/**
 * The one queue to the disk: what is to be written is written one after the other, so that many cameras do not make the
 * disk jump about, and what waits has a limit, so that a slow one costs recordings and not memory.
 */
export interface DiskQueue {
  /** False, and nothing happens, where so many bytes do not fit any more. `work` must not reject. */
  enqueue(bytes: number, work: () => Promise<void>): boolean
  queuedBytes(): number
  /** Resolves when all that was added so far is done. */
  drain(): Promise<void>
}

export function createDiskQueue(mostBytes: number): DiskQueue {
  let last: Promise<void> = Promise.resolve()
  let queuedBytes = 0
  return {
    enqueue(bytes, work) {
      if (bytes > 0 && queuedBytes + bytes > mostBytes) return false
      queuedBytes += bytes
      last = last.then(work).finally(() => {
        queuedBytes -= bytes
      })
      return true
    },
    queuedBytes: () => queuedBytes,
    drain: () => last,
  }
}
