import { randomUUID } from 'node:crypto'
import { JOB_NAMES, type JobName, type JobSettings } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import type { PlannedJob } from '@eyrie/contract/management/job-queue'
import { backoffDelayMs, type Log, sleep } from '@eyrie/kit'
import type Bree from 'bree'
import { findNextRun } from './job-schedule.ts'
import { holdRun, THREAD_LIMITS } from './job-thread.ts'
import { type RequestRun, runJob } from './run-job.ts'

/**
 * Time between two readings of the jobs. They change without this process too: management runs a
 * job when a user asks for it.
 */
const SYNC_INTERVAL_MS = 60_000
/** Delay before a job is started again if its last run ended without a result. */
const RETRY_MS = 60_000
const UNAVAILABLE_BACKOFF = { initialMs: 500, maxMs: 30_000 }
/**
 * Time between the starts of overdue jobs, so that their threads do not all exist at the same time.
 */
const OVERDUE_INTERVAL_MS = 1_000
/**
 * Start times are at least this far in the future, because bree ignores a start time that has
 * passed.
 */
const MIN_DELAY_MS = 20
/** Time after the limit of a run in which its result can still arrive. */
const REPORT_MARGIN_S = 120

export interface JobsOptions {
  settings: JobSettings
  /** Stores when jobs are due. Returns all jobs with their last runs. */
  plan(jobs: readonly PlannedJob[]): Promise<Job[]>
  request: RequestRun
  /** Called with all jobs whenever they have been read. */
  onJobs(jobs: readonly Job[]): void
  log: Log
}

/**
 * Starts the jobs of the appliance, such as backups, at their times. Management does the work. The
 * library bree sets the timers, and starts a thread for each run. The thread itself does nothing:
 * it exists until the run in management has ended.
 */
export interface Jobs {
  start(): void
  stop(): Promise<void>
}

export function createJobs({ settings, plan, request, onJobs, log }: JobsOptions): Jobs {
  const stopping = new AbortController()
  const { signal } = stopping
  /** The runs in progress. A run is aborted when its thread has ended. */
  const runs = new Map<JobName, AbortController>()
  /** Earliest next start of jobs whose last run had no result, in ms since 1970. */
  const retryAt = new Map<JobName, number>()
  let bree: Bree | undefined
  /** Aborted when a run has ended, so that the next one is planned. */
  let wakeUp = new AbortController()
  let loop: Promise<void> | undefined

  /** Sets the timers of all jobs by their last runs, and stores when the jobs are due. */
  async function planAll(): Promise<void> {
    const jobs = await plan([])
    onJobs(jobs)

    const now = Date.now()
    let earliestStart = now + MIN_DELAY_MS
    const changed: PlannedJob[] = []
    for (const job of jobs) {
      const { job_name: jobName } = job
      // The next run of a running job is planned when this run has ended. A job may start while
      // the others are planned.
      if (runs.has(jobName) || job.job_state === 'running') continue
      const dueAt = findNextRun(settings[jobName], job, now, Math.random)
      const startAt = dueAt && Math.max(dueAt, retryAt.get(jobName) ?? 0, earliestStart)
      const isOverdue = startAt === earliestStart
      if (isOverdue) earliestStart += OVERDUE_INTERVAL_MS
      await setTimer(jobName, startAt)

      const nextRunAt = dueAt === undefined ? null : new Date(dueAt).toISOString()
      if (nextRunAt !== job.next_run_at) changed.push({ job_name: jobName, next_run_at: nextRunAt })
    }
    if (changed.length > 0) await plan(changed)
  }

  /** Sets the timer of a job to a time in ms since 1970. Without a time, only removes the timer. */
  async function setTimer(name: JobName, startAt: number | undefined): Promise<void> {
    bree ??= await createBree()
    // The previous timer may have started the job meanwhile.
    if (signal.aborted || runs.has(name)) return
    bree.removeSafeTimer('timeouts', name)
    if (startAt === undefined) return

    // bree has all jobs by their names.
    const job = bree.config.jobs.find(candidate => candidate.name === name)!
    job.date = new Date(Math.max(startAt, Date.now() + MIN_DELAY_MS))
    await bree.start(name)
  }

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
      workerMessageHandler: ({ name }) => void run(name as JobName),
      errorHandler(error, { name }) {
        if (!signal.aborted) handleFailure(name as JobName, error as Error)
      },
    })

    created.on('worker created', (name: JobName) => runs.set(name, new AbortController()))
    created.on('worker deleted', (name: JobName) => {
      runs.get(name)?.abort()
      runs.delete(name)
      wakeUp.abort()
    })
    return created
  }

  /** Lets management run a job whose thread has started. Ends the thread after the run. */
  async function run(name: JobName): Promise<void> {
    const threadEnded = runs.get(name)?.signal ?? signal
    try {
      await runJob(request, name, {
        run_id: randomUUID(),
        limit_s: settings[name].limit_s,
        signal: AbortSignal.any([signal, threadEnded]),
      })
      retryAt.delete(name)
    } catch (error) {
      if (!signal.aborted) handleFailure(name, error as Error)
    }
    bree?.workers.get(name)?.postMessage('end')
  }

  function handleFailure(name: JobName, error: Error): void {
    retryAt.set(name, Date.now() + RETRY_MS)
    log.error({ job: name, reason: error.message }, 'failed to run job; it is tried again')
  }

  function logUnexpected(reason: unknown): void {
    log.warn({ reason: String(reason) }, 'unexpected state of a job')
  }

  async function planUntilStopped(): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      wakeUp = new AbortController()
      try {
        await planAll()
        failures = 0
      } catch (error) {
        failures++
        // A single failure is normal: management may have closed an idle connection.
        if (failures === 2 && !signal.aborted) log.warn({ err: error }, 'failed to plan jobs')
      }
      const delayMs =
        failures > 0 ? backoffDelayMs(failures, UNAVAILABLE_BACKOFF) : SYNC_INTERVAL_MS
      await sleep(delayMs, AbortSignal.any([signal, wakeUp.signal]))
    }
  }

  return {
    start() {
      loop = planUntilStopped()
    },
    async stop() {
      stopping.abort()
      await loop
      for (const name of JOB_NAMES) bree?.removeSafeTimer('timeouts', name)
      // Runs that have begun continue in management, which stores their results
      // without this process.
      await Promise.all(Array.from(bree?.workers.values() ?? [], worker => worker.terminate()))
    },
  }
}
