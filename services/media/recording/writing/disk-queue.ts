import { Mutex } from 'async-mutex'

/**
 * The queue of all disk writes. Writes are sequential, so the disk does not seek back and forth
 * between the files of many cameras. The size is limited: if the disk is too slow, packets are
 * dropped instead of filling the memory.
 */
export interface DiskQueue {
  /**
   * Queues work that writes `bytes`. Returns false if the queue is full. `work` must not reject.
   */
  enqueue(bytes: number, work: () => Promise<void>): boolean
  queuedBytes(): number
  /** Resolves when all work that is queued now has finished. */
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
