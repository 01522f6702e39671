import { setTimeout as wait } from 'node:timers/promises'
import type { JobName } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import { type Log, sleep, unlessAborted, withTimeout } from '@eyrie/kit'
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

/** Runs the jobs. A job never runs twice at the same time, and a finished run is not repeated. */
export interface JobRunner {
  /**
   * Starts a run unless it has finished or is in progress, and waits for its result for
   * at most `waitMs`. Returns the state of the job. Its `run_id` is that of another run
   * if one is in progress.
   */
  run(database: Database, name: JobName, run: RunOptions): Promise<Job>
  /** Starts the runs that people have requested. */
  runRequested(database: Database): Promise<void>
  /** Starts a run unless one is in progress, and waits until it has ended. */
  runNow(database: Database, name: JobName): Promise<void>
  /**
   * Interrupts all runs of this process, and waits until they have ended. An interrupted
   * run may start again.
   */
  stop(): Promise<void>
}

export interface RunOptions {
  run_id: string
  limitMs: number
  waitMs: number
}

/** A run of a job. Its state is stored in the database. */
interface Run {
  database: Database
  name: JobName
  run_id: string
  limitMs: number
}

/** A run that is in progress in this process. */
interface ActiveRun {
  /**
   * A property, because `startRun` is asynchronous: if it returned this promise itself, its callers
   * would wait for the end of the run.
   */
  ended: Promise<void>
}

/** Creates a runner of the jobs in `works`. Other jobs are left to other processes. */
export function createJobRunner(works: Partial<JobWorks>, log: Log): JobRunner {
  const stopping = new AbortController()
  const activeRuns = new Map<JobName, ActiveRun>()

  /**
   * Starts a run, unless a run of the job is in progress in this process already, and returns the
   * run that is in progress. Returns undefined if another process runs the job or has finished this
   * run, or if this process may not run the job.
   */
  async function startRun(run: Run): Promise<ActiveRun | undefined> {
    const { database, name } = run
    const activeRun = activeRuns.get(name)
    if (activeRun) return activeRun
    const work = works[name]
    if (!work || stopping.signal.aborted) return undefined

    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const endRun = () => {
      activeRuns.delete(name)
      resolve()
    }
    const startedRun: ActiveRun = { ended }
    // Added before the first `await`, so that concurrent calls cannot both start a run.
    activeRuns.set(name, startedRun)

    let isClaimed = false
    try {
      isClaimed = await database.system('jobs', tx => claimRun(tx, name, run.run_id))
    } finally {
      if (!isClaimed) endRun()
    }
    if (!isClaimed) return undefined
    void executeRun(run, { work, stopSignal: stopping.signal, log }).finally(endRun)
    return startedRun
  }

  return {
    async run(database, name, { run_id: runId, limitMs, waitMs }) {
      const deadlineMs = performance.now() + waitMs
      for (;;) {
        const activeRun = await startRun({ database, name, run_id: runId, limitMs })
        const remainingMs = Math.max(0, deadlineMs - performance.now())
        // If the time is over, the state of the run is returned.
        if (activeRun) await withTimeout(remainingMs, activeRun.ended).catch(() => {})
        else await wait(Math.min(POLL_MS, remainingMs))

        const job = await database.system('jobs', tx => readJob(tx, name))
        const isOtherRun = job.run_id !== runId
        const isFinished = job.finished_at !== null
        if (isOtherRun || isFinished || performance.now() >= deadlineMs) return job
      }
    },

    async runRequested(database) {
      const requestedRuns = await database.system('jobs', tx => listRequestedRuns(tx), {
        accessMode: 'read only',
      })
      for (const { name, run_id } of requestedRuns) {
        await startRun({ database, name, run_id, limitMs: DEFAULT_LIMIT_MS })
      }
    },

    async runNow(database, name) {
      const run = await startRun({ database, name, run_id: v7(), limitMs: DEFAULT_LIMIT_MS })
      await run?.ended
    },

    async stop() {
      stopping.abort()
      await Promise.all([...activeRuns.values()].map(({ ended }) => ended))
    },
  }
}

interface Execution {
  work: JobWork
  /** Aborts when the service stops. The run then has no result and may be claimed again. */
  stopSignal: AbortSignal
  log: Log
}

/** Does the work of a claimed run and stores its result. Never rejects. */
async function executeRun(run: Run, { work, stopSignal, log }: Execution): Promise<void> {
  const { database, name, run_id: runId, limitMs } = run
  const startedAtMs = performance.now()
  const timeout = AbortSignal.timeout(limitMs)
  const signal = AbortSignal.any([timeout, stopSignal])
  const renewal = setInterval(() => {
    // A failed renewal needs no handling: while the database is unreachable, the work fails too.
    database.system('jobs', tx => renewLease(tx, name, runId)).catch(() => {})
  }, RENEW_MS)

  log.info({ job: name, run_id: runId }, 'started job')
  const working = work({ database, signal, log })
  try {
    const result = await unlessAborted(working, signal).then<JobResult, JobResult>(
      message => ({ state: 'succeeded', message }),
      error => toFailure(error, timeout, limitMs),
    )
    if (!stopSignal.aborted) {
      await storeResult(run, result, stopSignal)
      const durationMs = Math.round(performance.now() - startedAtMs)
      logResult({ job: name, run_id: runId, duration_ms: durationMs }, result, log)
    }
    // Work that exceeds its time limit keeps the lease until it has ended, so that no other
    // run starts meanwhile.
    await working.catch(() => {})
  } catch (error) {
    log.error({ job: name, run_id: runId, err: error }, 'failed to store result of job')
  } finally {
    clearInterval(renewal)
    // A lease that cannot be released expires.
    await database.system('jobs', tx => releaseRun(tx, name, runId)).catch(() => {})
  }
}

function toFailure(error: unknown, timeout: AbortSignal, limitMs: number): JobResult {
  if (error instanceof JobSkippedError) return { state: 'skipped', message: error.message }
  const message = timeout.aborted
    ? `did not finish within ${Math.round(limitMs / 1000)} s: raise limit_s of this job in eyrie.json`
    : (error as Error).message
  return { state: 'failed', message }
}

/**
 * Stores a result, and waits for the database if necessary: a run without a result would be
 * repeated.
 */
async function storeResult(
  { database, name, run_id: runId }: Run,
  result: JobResult,
  stopSignal: AbortSignal,
): Promise<void> {
  while (!stopSignal.aborted) {
    try {
      await database.system('jobs', tx => finishRun(tx, { name, run_id: runId }, result))
      return
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error
      await sleep(POLL_MS, stopSignal)
    }
  }
}

function logResult(
  runFields: { job: JobName; run_id: string; duration_ms: number },
  { state, message }: JobResult,
  log: Log,
): void {
  const fields = { ...runFields, result: message }
  if (state === 'failed') log.error(fields, 'failed to run job')
  else log.info(fields, state === 'skipped' ? 'skipped job' : 'finished job')
}
