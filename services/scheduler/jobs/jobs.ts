import { randomUUID } from 'node:crypto'
import type { JobName, JobSettings } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import type { PlannedJob } from '@eyrie/contract/management/job-queue'
import { backoffDelayMs, type Log, sleep } from '@eyrie/kit'
import { createWakeUp } from '@eyrie/kit/wake-up'
import { findNextRun } from './job-schedule.ts'
import { createJobTimers, MIN_DELAY_MS } from './job-timers.ts'
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

export interface JobsOptions {
  settings: JobSettings
  /** Stores when jobs are due. Returns all jobs with their last runs. */
  plan(jobs: readonly PlannedJob[]): Promise<Job[]>
  request: RequestRun
  /** Called with all jobs whenever they have been read. */
  onJobs(jobs: readonly Job[]): void
  log: Log
}

/** Starts the jobs of the appliance, such as backups, at their times. Management does the work. */
export interface Jobs {
  start(): void
  stop(): Promise<void>
}

export function createJobs({ settings, plan, request, onJobs, log }: JobsOptions): Jobs {
  const stopping = new AbortController()
  const { signal } = stopping
  /** Notified when a run has ended, so that the next one is planned. */
  const wakeUp = createWakeUp(signal)
  /**
   * Earliest next start of jobs whose last run had no result, in ms of the monotonic clock: a
   * correction of the time must not delay them.
   */
  const retryAt = new Map<JobName, number>()
  const timers = createJobTimers({
    settings,
    run,
    onFailure(name, error) {
      retryAt.set(name, performance.now() + RETRY_MS)
      log.error({ job: name, reason: error.message }, 'failed to run job; it is tried again')
    },
    onEnd: wakeUp.notify,
    stopping: signal,
    log,
  })
  let loop: Promise<void> | undefined

  async function run(name: JobName, runSignal: AbortSignal): Promise<void> {
    await runJob(request, name, {
      runId: randomUUID(),
      limitS: settings[name].limit_s,
      signal: runSignal,
    })
    retryAt.delete(name)
  }

  async function planUntilStopped(): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      const wokenUp = wakeUp.listen()
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
      await sleep(delayMs, wokenUp)
    }
  }

  /** Sets the timers of all jobs by their last runs, and stores when the jobs are due. */
  async function planAll(): Promise<void> {
    const jobs = await plan([])
    onJobs(jobs)

    const now = Date.now()
    /** Earliest start of the next overdue job. */
    let earliestStart = now + MIN_DELAY_MS
    const changed: PlannedJob[] = []
    for (const job of jobs) {
      const { job_name: name } = job
      // The next run of a running job is planned when this run has ended. A job may start while
      // the others are planned.
      if (job.job_state === 'running' || timers.isRunning(name)) continue
      const dueAt = findNextRun(settings[name], job, now, Math.random)
      const retryDelayMs = (retryAt.get(name) ?? 0) - performance.now()
      const startAt = dueAt && Math.max(dueAt, now + retryDelayMs, earliestStart)
      const isOverdue = startAt === earliestStart
      if (isOverdue) earliestStart += OVERDUE_INTERVAL_MS
      await timers.set(name, startAt)

      const nextRunAt = dueAt === undefined ? null : new Date(dueAt).toISOString()
      if (nextRunAt !== job.next_run_at) changed.push({ job_name: name, next_run_at: nextRunAt })
    }
    if (changed.length > 0) await plan(changed)
  }

  return {
    start() {
      loop = planUntilStopped()
    },
    async stop() {
      stopping.abort()
      await loop
      // Runs that have begun continue in management, which stores their results without this
      // process.
      await timers.stop()
    },
  }
}
