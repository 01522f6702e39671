import { JOB_NAMES, type JobName, type JobSettings } from '@eyrie/contract/jobs'
import type { Log } from '@eyrie/kit'
import type Bree from 'bree'
import { holdRun, THREAD_LIMITS } from './job-thread.ts'

/**
 * Start times are at least this far in the future, because bree ignores a start time that has
 * passed.
 */
export const MIN_DELAY_MS = 20
/** Time after the limit of a run in which its result can still arrive. */
const REPORT_MARGIN_S = 120

export interface JobTimersOptions {
  settings: JobSettings
  /** Runs a job, and resolves when the run has ended. `signal` ends the waiting. */
  run(name: JobName, signal: AbortSignal): Promise<void>
  /** Called when a run has ended without a result. */
  onFailure(name: JobName, error: Error): void
  /** Called when the thread of a run has ended. */
  onEnd(): void
  /** Aborted when no more jobs may start. */
  stopping: AbortSignal
  log: Log
}

/**
 * Starts jobs at their times. The library bree sets the timers, and starts a thread for each run.
 * The thread itself does nothing: it exists until the run in management has ended.
 */
export interface JobTimers {
  /** Sets when a job starts next, in ms since 1970. If undefined, the job does not start. */
  set(name: JobName, startAt: number | undefined): Promise<void>
  isRunning(name: JobName): boolean
  /** Removes all timers and ends all threads. */
  stop(): Promise<void>
}

export function createJobTimers(options: JobTimersOptions): JobTimers {
  const { settings, onEnd, stopping, log } = options
  /** The runs in progress. A run is aborted when its thread has ended. */
  const runs = new Map<JobName, AbortController>()
  let bree: Bree | undefined

  async function createBree(): Promise<Bree> {
    // Loaded when it is first needed, because it is large.
    const { default: BreeClass } = await import('bree')
    const created = new BreeClass({
      root: false,
      doRootCheck: false,
      timeout: false,
      jobs: JOB_NAMES.map(name => ({
        name,
        path: holdRun,
        worker: { env: {}, resourceLimits: THREAD_LIMITS },
        closeWorkerAfterMs: (settings[name].limit_s + REPORT_MARGIN_S) * 1000,
      })),
      logger: { info() {}, warn: logUnexpected, error: logUnexpected },
      // The thread sends a message as soon as it exists.
      workerMessageHandler: ({ name }) => void runAndEndThread(name as JobName),
      errorHandler: (error, { name }) => handleError(name as JobName, error as Error),
    })

    created.on('worker created', (name: JobName) => runs.set(name, new AbortController()))
    created.on('worker deleted', (name: JobName) => {
      runs.get(name)?.abort()
      runs.delete(name)
      onEnd()
    })
    return created
  }

  /** Runs a job whose thread has started. */
  async function runAndEndThread(name: JobName): Promise<void> {
    const threadEnded = runs.get(name)?.signal ?? stopping
    try {
      await options.run(name, AbortSignal.any([stopping, threadEnded]))
    } catch (error) {
      handleError(name, error as Error)
    }
    bree?.workers.get(name)?.postMessage('end')
  }

  function handleError(name: JobName, error: Error): void {
    if (!stopping.aborted) options.onFailure(name, error)
  }

  function logUnexpected(reason: unknown): void {
    log.warn({ reason: String(reason) }, 'unexpected state of a job')
  }

  return {
    async set(name, startAt) {
      bree ??= await createBree()
      // The previous timer may have started the job meanwhile.
      if (stopping.aborted || runs.has(name)) return
      bree.removeSafeTimer('timeouts', name)
      if (startAt === undefined) return

      // `start` sets a timer for the `date` of the job.
      const job = bree.config.jobs.find(candidate => candidate.name === name)
      if (!job) throw new Error(`bree has no job ${name}`)
      job.date = new Date(Math.max(startAt, Date.now() + MIN_DELAY_MS))
      await bree.start(name)
    },

    isRunning: name => runs.has(name),

    async stop() {
      for (const name of JOB_NAMES) bree?.removeSafeTimer('timeouts', name)
      await Promise.all(Array.from(bree?.workers.values() ?? [], worker => worker.terminate()))
    },
  }
}
