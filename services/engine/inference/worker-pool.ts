import { setTimeout as sleep } from 'node:timers/promises'
import type { Scheduler } from './scheduler.ts'
import {
  startWorker,
  type WorkerExitError,
  type WorkerOptions,
  type WorkerProcess,
} from './worker-process.ts'

/** Delay before another attempt to start a worker after a failure. */
const RESTART_DELAY_MS = 1000

/** Settings of the pool of inference workers, the child processes that run models. */
export interface WorkerPoolOptions extends WorkerOptions {
  /** Number of workers. */
  count: number
  scheduler: Scheduler<WorkerProcess>
  /** Called when a worker has exited, before its replacement starts. */
  onExit(worker: WorkerProcess): void
  /** Called with the replacement of a worker that exited. No models are loaded on it yet. */
  onReplacement(worker: WorkerProcess): void
}

/**
 * A fixed number of inference worker processes. A worker that exits is replaced until
 * the pool is stopped.
 */
export interface WorkerPool {
  /** Returns the workers that are running now. */
  workers(): readonly WorkerProcess[]
  /**
   * Starts the other workers. Rejects if one of them fails to start; the next call then tries
   * again.
   */
  startAll(): Promise<void>
  /**
   * Adds a worker in addition to the fixed number, after `prepare` has succeeded. Returns a
   * function that stops the worker when it has finished its frames.
   */
  addExtra(prepare: (worker: WorkerProcess) => Promise<void>): Promise<() => Promise<void>>
  stop(): Promise<void>
}

/**
 * Creates a pool and starts its first worker, which detects what this machine can run. `startAll`
 * starts the others. Throws an `Error` if the first worker fails to start.
 */
export async function startWorkerPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { count, scheduler, log } = options
  const workers: WorkerProcess[] = []
  /** The workers that `addExtra` has added. They are not replaced when they exit. */
  const extras = new Set<WorkerProcess>()
  /** Number of workers that have not been started yet. */
  let missingCount = count
  /** Defined while `startAll` starts workers, and after it has succeeded. */
  let starting: Promise<void> | undefined
  let isStopping = false

  async function addWorker(
    prepare?: (worker: WorkerProcess) => Promise<void>,
  ): Promise<WorkerProcess> {
    const worker = await startWorker(options)
    try {
      await prepare?.(worker)
      if (isStopping) throw new Error('the worker pool was stopped while a worker was starting')
    } catch (error) {
      await worker.stop()
      throw error
    }
    workers.push(worker)
    scheduler.addWorker(worker)
    void worker.exited.then(exit => handleExit(worker, exit))
    return worker
  }

  async function handleExit(worker: WorkerProcess, exit: WorkerExitError): Promise<void> {
    workers.splice(workers.indexOf(worker), 1)
    scheduler.removeWorker(worker, exit)
    options.onExit(worker)
    const wasExtra = extras.delete(worker)
    if (isStopping || wasExtra) return

    log.error(
      { pid: worker.pid, reason: exit.message },
      'inference worker exited; starting a replacement',
    )
    const replacement = await retryAddWorker()
    if (replacement) options.onReplacement(replacement)
  }

  /** Adds a worker, with retries after failures. Returns undefined if the pool is stopped first. */
  async function retryAddWorker(): Promise<WorkerProcess | undefined> {
    while (!isStopping) {
      try {
        return await addWorker()
      } catch (error) {
        if (isStopping) break
        log.error({ err: error, retryMs: RESTART_DELAY_MS }, 'failed to start inference worker')
        await sleep(RESTART_DELAY_MS)
      }
    }
    return undefined
  }

  /** Starts workers at the same time. If some fail to start, rejects with the first reason. */
  async function startWorkers(workerCount: number): Promise<void> {
    const attempts = Array.from({ length: workerCount }, () => addWorker())
    const results = await Promise.allSettled(attempts)
    missingCount -= results.filter(({ status }) => status === 'fulfilled').length
    const failure = results.find(result => result.status === 'rejected')
    if (failure) {
      throw new Error(`failed to start an inference worker: ${(failure.reason as Error).message}`)
    }
  }

  await startWorkers(1)
  return {
    workers: () => workers,
    startAll: () => {
      starting ??= startWorkers(missingCount).catch(error => {
        starting = undefined
        throw error
      })
      return starting
    },
    addExtra: async prepare => {
      const worker = await addWorker(prepare)
      extras.add(worker)
      return async () => {
        await scheduler.retireWorker(worker)
        await worker.stop()
      }
    },
    stop: async () => {
      isStopping = true
      // Copied, because `workers` changes when a worker exits.
      await Promise.all([...workers].map(worker => worker.stop()))
    },
  }
}
