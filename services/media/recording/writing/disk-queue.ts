import { Mutex } from 'async-mutex'

/**
 * The single queue of disk writes. Sequential writes spare the disk from seeking between the files of many cameras, and the size
 * limit ensures that a slow disk costs recordings rather than memory.
 */
export interface DiskQueue {
  /** Returns false, without running `work`, if the queue has no room for `bytes`. `work` must not reject. */
  enqueue(bytes: number, work: () => Promise<void>): boolean
  queuedBytes(): number
  /** Resolves when all work queued so far is done. */
  drain(): Promise<void>
}

export function createDiskQueue(maxBytes: number): DiskQueue {
  const mutex = new Mutex()
  let queuedBytes = 0
  return {
    enqueue(bytes, work) {
      if (bytes > 0 && queuedBytes + bytes > maxBytes) return false
      queuedBytes += bytes
      void mutex.runExclusive(work).finally(() => {
        queuedBytes -= bytes
      })
      return true
    },
    queuedBytes: () => queuedBytes,
    drain: () => mutex.runExclusive(() => {}),
  }
}
