import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import type { Scheduler } from './scheduler.ts'
import { startWorker, type WorkerExitError, type WorkerProcess } from './worker-process.ts'

const RETRY_MS = 1000

export interface WorkerPoolOptions {
  count: number
  /** A worker that does not answer a request within this time counts as hung. */
  timeoutMs: number
  scheduler: Scheduler<WorkerProcess>
  log: Log
  onExit(worker: WorkerProcess): void
  /** A new worker, without any models, has replaced one that exited. */
  onReplacement(worker: WorkerProcess): void
}

/** Keeps a fixed number of workers running. */
export interface WorkerPool {
  workers(): readonly WorkerProcess[]
  stop(): Promise<void>
}

/** Throws if the workers cannot be started. */
export async function startWorkerPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { count, timeoutMs, scheduler, log } = options
  const workers: WorkerProcess[] = []
  let isStopping = false

  const start = async (): Promise<WorkerProcess> => {
    const worker = await startWorker(timeoutMs)
    if (isStopping) {
      await worker.stop()
      throw new Error('stopped while starting')
    }
    workers.push(worker)
    scheduler.addWorker(worker)
    worker.exited.then(exit => replace(worker, exit))
    return worker
  }

  const replace = async (worker: WorkerProcess, exit: WorkerExitError) => {
    workers.splice(workers.indexOf(worker), 1)
    scheduler.removeWorker(worker, exit)
    options.onExit(worker)
    if (isStopping) return
    log.error({ pid: worker.pid, reason: exit.message }, 'inference worker exited; starting a replacement')
    const replacement = await startReplacement()
    if (replacement) options.onReplacement(replacement)
  }

  const startReplacement = async (): Promise<WorkerProcess | undefined> => {
    while (!isStopping) {
      try {
        return await start()
      } catch (error) {
        if (isStopping) break
        log.error({ err: error, retryMs: RETRY_MS }, 'failed to start inference worker')
        await sleep(RETRY_MS)
      }
    }
    return undefined
  }

  const stop = async () => {
    isStopping = true
    await Promise.all([...workers].map(worker => worker.stop()))
  }

  try {
    await Promise.all(Array.from({ length: count }, start))
  } catch (error) {
    await stop()
    throw new Error(`failed to start inference workers: ${(error as Error).message}`)
  }
  return { workers: () => workers, stop }
}
