import { setTimeout as wait } from 'node:timers/promises'
import type { JobName } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import type { Log } from '@eyrie/kit'
import { v7 } from 'uuid'
import type { Database } from '../db/database.ts'
import { DatabaseUnavailableError } from '../db/database-errors.ts'
import { JobSkippedError, type JobWork, type JobWorks } from './job.ts'
import {
  claimRun,
  finishRun,
  type JobResult,
  LEASE_S,
  listRequestedRuns,
  readJob,
  releaseRun,
  renewLease,
} from './job-store.ts'

const RENEW_MS = (LEASE_S * 1000) / 3
/** How often a run in another process is checked. */
const POLL_MS = 1_000
/** Time limit of a run that a person requests, and of one that management starts by itself. */
const DEFAULT_LIMIT_MS = 4 * 3_600_000

/** Runs the jobs. No job runs twice at the same time, and no run happens twice. */
export interface JobRunner {
  /**
   * Begins a run unless it has finished or is in progress, and waits for its result for at most `waitMs`. Returns the state of the
   * job: it has another `run_id` while another run is in progress.
   */
  run(database: Database, name: JobName, run: RunOptions): Promise<Job>
  /** Begins the requested runs. */
  runRequested(database: Database): Promise<void>
  /** Begins a run of its own, unless one is in progress, and waits until it has finished. */
  runNow(database: Database, name: JobName): Promise<void>
  /** Interrupts the runs, which begin again when they are repeated. */
  stop(): Promise<void>
}

export interface RunOptions {
  run_id: string
  limitMs: number
  waitMs: number
}

/** Jobs without work are left to other processes. */
export function createJobRunner(works: Partial<JobWorks>, log: Log): JobRunner {
  const stopping = new AbortController()
  /** The runs of this process, by job. */
  const active = new Map<JobName, Promise<void>>()

  /**
   * Begins a run unless a run of this job is in progress, or this one has finished. Resolves to what resolves at the end of the
   * run in this process, or to undefined if there is none.
   */
  async function begin(
    database: Database,
    name: JobName,
    run_id: string,
    limitMs: number,
  ): Promise<{ ended: Promise<void> } | undefined> {
    const current = active.get(name)
    if (current) return { ended: current }
    const work = works[name]
    if (!work || stopping.signal.aborted) return undefined

    const end = Promise.withResolvers<void>()
    // Entered before the first wait, so that two requests cannot both begin a run.
    active.set(name, end.promise)
    const leave = () => {
      active.delete(name)
      end.resolve()
    }
    const claimed = database.system('jobs', tx => claimRun(tx, name, run_id))
    const isClaimed = await claimed.catch(error => {
      leave()
      throw error
    })
    if (!isClaimed) leave()
    else void execute(database, name, work, { run_id, limitMs }).finally(leave)
    return isClaimed ? { ended: end.promise } : undefined
  }

  /** Does the work of a claimed run and stores its result. */
  async function execute(
    database: Database,
    name: JobName,
    work: JobWork,
    { run_id, limitMs }: Pick<RunOptions, 'run_id' | 'limitMs'>,
  ): Promise<void> {
    const startedAt = performance.now()
    const timeout = AbortSignal.timeout(limitMs)
    const signal = AbortSignal.any([timeout, stopping.signal])
    const renewal = setInterval(() => {
      // A lease that is not renewed while the database is unreachable ends only after the work has failed, too.
      database.system('jobs', tx => renewLease(tx, name, run_id)).catch(() => {})
    }, RENEW_MS)

    log.info({ job: name, run_id }, 'started job')
    const working = work({ database, signal, log })
    const aborted = waitForAbort(signal)
    try {
      const result = await Promise.race([working, aborted]).then<JobResult, JobResult>(
        message => ({ state: 'succeeded', message }),
        error => toFailure(error, timeout, limitMs),
      )
      if (!stopping.signal.aborted) {
        await storeResult(database, name, run_id, result)
        logResult(name, run_id, result, performance.now() - startedAt)
      }
      // The lease protects work that does not end in time.
      await working.catch(() => {})
    } catch (error) {
      log.error({ job: name, run_id, err: error }, 'failed to store result of job')
    } finally {
      clearInterval(renewal)
      await database.system('jobs', tx => releaseRun(tx, name, run_id)).catch(() => {})
    }
  }

  /** A result is worth waiting for: without it, the run would begin again. */
  async function storeResult(database: Database, name: JobName, run_id: string, result: JobResult) {
    while (!stopping.signal.aborted)
      try {
        await database.system('jobs', tx => finishRun(tx, name, run_id, result))
        return
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError)) throw error
        await wait(POLL_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
  }

  function logResult(name: JobName, run_id: string, { state, message }: JobResult, durationMs: number) {
    const fields = { job: name, run_id, duration_ms: Math.round(durationMs), result: message }
    if (state === 'failed') log.error(fields, 'failed to run job')
    else log.info(fields, state === 'skipped' ? 'skipped job' : 'finished job')
  }

  return {
    async run(database, name, { run_id, limitMs, waitMs }) {
      const deadline = performance.now() + waitMs
      for (;;) {
        const run = await begin(database, name, run_id, limitMs)
        const remainingMs = Math.max(0, deadline - performance.now())
        const delayMs = run ? remainingMs : Math.min(POLL_MS, remainingMs)
        const timer = new AbortController()
        await Promise.race([wait(delayMs, undefined, timer).catch(() => {}), ...(run ? [run.ended] : [])])
        timer.abort()
        const job = await database.system('jobs', tx => readJob(tx, name))
        const isFinished = job.run_id === run_id && job.finished_at !== null
        if (isFinished || job.run_id !== run_id || performance.now() >= deadline) return job
      }
    },

    async runRequested(database) {
      const requested = await database.system('jobs', tx => listRequestedRuns(tx), {
        accessMode: 'read only',
      })
      for (const { name, run_id } of requested) await begin(database, name, run_id, DEFAULT_LIMIT_MS)
    },

    async runNow(database, name) {
      const run = await begin(database, name, v7(), DEFAULT_LIMIT_MS)
      await run?.ended
    },

    async stop() {
      stopping.abort()
      await Promise.all(active.values())
    },
  }
}

/** Rejects when the signal aborts. */
async function waitForAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  // The work may have ended first.
  promise.catch(() => {})
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  return promise
}

function toFailure(error: unknown, timeout: AbortSignal, limitMs: number): JobResult {
  if (error instanceof JobSkippedError) return { state: 'skipped', message: error.message }
  const message = timeout.aborted
    ? `did not finish within ${Math.round(limitMs / 1000)} s: raise limit_s of this job in eyrie.json`
    : (error as Error).message
  return { state: 'failed', message }
}
