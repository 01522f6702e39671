import { FrameDroppedError } from '@eyrie/element'
import type { RingLocation } from '../frames/ring-reader.ts'
import type { ModelLease } from './model-registry.ts'
import type { FrameQueueOptions, Scheduler } from './scheduler.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

/**
 * Runs a leased model on the frames of a channel, until the queue is closed or the lease is
 * revoked. A lease keeps the model loaded in the inference workers.
 */
export interface ModelQueue {
  /**
   * Runs `work` for frame `n` on a worker that has the model. Rejects with `FrameDroppedError` if
   * the frame is dropped.
   */
  submit<T>(n: number, work: (worker: WorkerProcess) => Promise<T>): Promise<T>
  /**
   * Returns the current ring (frame buffer) for frame `n`. Throws
   * `FrameDroppedError` if there is none.
   */
  openRing(n: number): RingLocation
  /** Rejects waiting work with the reason, and releases the lease. */
  close(reason: string): void
}

export interface ModelQueueOptions extends Omit<FrameQueueOptions<WorkerProcess>, 'canRunOn'> {
  lease: ModelLease
  pool: WorkerPool
  scheduler: Scheduler<WorkerProcess>
  findRing(): RingLocation | undefined
}

export function openModelQueue({
  lease,
  pool,
  scheduler,
  findRing,
  ...options
}: ModelQueueOptions): ModelQueue {
  const queue = scheduler.openQueue({ ...options, canRunOn: lease.isLoadedOn })
  void lease.revoked.then(reason => queue.close(reason))
  /** Path of the ring that the workers read. */
  let currentPath: string | undefined
  let isClosed = false

  /**
   * Sets the ring that the workers read. They keep the previous ring open until they are notified.
   */
  function switchRing(path: string | undefined): void {
    const previousPath = currentPath
    currentPath = path
    if (!previousPath || previousPath === path) return
    for (const worker of pool.workers()) worker.notify({ type: 'close-ring', ring: previousPath })
  }

  return {
    submit: (n, work) => queue.submit(n, work),
    openRing: n => {
      const ring = findRing()
      if (!ring) throw new FrameDroppedError(n)
      switchRing(ring.path)
      return ring
    },
    close: reason => {
      if (isClosed) return
      isClosed = true
      queue.close(new Error(reason))
      lease.release()
      switchRing(undefined)
    },
  }
}
