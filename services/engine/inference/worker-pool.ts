import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import type { Scheduler } from './scheduler.ts'
import { startWorker, type WorkerDied, type WorkerProcess } from './worker-process.ts'

const RETRY_MS = 1000

export interface PoolOptions {
  count: number
  /** How long a worker may take for one request before it counts as hung. */
  timeoutMs: number
  scheduler: Scheduler<WorkerProcess>
  log: Log
  onDeath(worker: WorkerProcess): void
  /** A new worker stands where one died; it has no models yet. */
  onReplacement(worker: WorkerProcess): void
}

/** Keeps a number of workers running. */
export interface Pool {
  workers(): readonly WorkerProcess[]
  stop(): Promise<void>
}

/** Throws if the workers cannot be started at all. */
export async function startPool(options: PoolOptions): Promise<Pool> {
  const { count, timeoutMs, scheduler, log } = options
  const workers: WorkerProcess[] = []
  let stopping = false

  const start = async (): Promise<WorkerProcess> => {
    const worker = await startWorker(timeoutMs)
    if (stopping) {
      await worker.stop()
      throw new Error('stopped while starting')
    }
    workers.push(worker)
    scheduler.add(worker)
    worker.died.then(death => replace(worker, death))
    return worker
  }

  const replace = async (worker: WorkerProcess, death: WorkerDied) => {
    workers.splice(workers.indexOf(worker), 1)
    scheduler.remove(worker, death)
    options.onDeath(worker)
    if (stopping) return
    log.error({ pid: worker.pid, reason: death.message }, 'an inference worker died; starting another')
    const replacement = await startAgain()
    if (replacement) options.onReplacement(replacement)
  }

  const startAgain = async (): Promise<WorkerProcess | undefined> => {
    while (!stopping) {
      try {
        return await start()
      } catch (error) {
        if (stopping) break
        log.error({ err: error }, 'an inference worker does not start; trying again')
        await wait(RETRY_MS)
      }
    }
    return undefined
  }

  const stop = async () => {
    stopping = true
    await Promise.all([...workers].map(worker => worker.stop()))
  }

  try {
    await Promise.all(Array.from({ length: count }, start))
  } catch (error) {
    await stop()
    throw new Error(`inference workers do not start: ${(error as Error).message}`)
  }
  return { workers: () => workers, stop }
}
