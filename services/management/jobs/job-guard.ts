import type { JobName } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import type { Database } from '../db/database.ts'
import type { JobRunner } from './job-runner.ts'
import { listJobs } from './job-store.ts'

const HOUR_MS = 3_600_000
/**
 * Management runs these jobs by itself if the scheduler has not run them for this long. Without
 * them, the disk would fill up.
 */
const MAX_PAUSE_MS: Partial<Record<JobName, number>> = {
  retention: 26 * HOUR_MS,
  deliveries: 26 * HOUR_MS,
}
/**
 * While the disk is almost full, the job `retention` is run if it has not run for this long. It
 * deletes expired data.
 */
const FULL_DISK_PAUSE_MS = 600_000
/** A job that has been due for longer is reported. */
const OVERDUE_MS = HOUR_MS

export interface JobGuardOptions {
  runner: JobRunner
  /** Whether the disk is full or almost full. */
  isDiskFull(): boolean
  /** Epoch ms. */
  now(): number
}

/**
 * Runs urgent jobs that the scheduler does not start, and reports jobs that are
 * overdue or have failed.
 */
export interface JobGuard {
  /** Runs the jobs that cannot wait for the scheduler. */
  check(database: Database): Promise<void>
  /** Returns one message for the operator for each failed job, and one for all overdue jobs. */
  alarms(): string[]
}

export function createJobGuard({ runner, isDiskFull, now }: JobGuardOptions): JobGuard {
  /** The jobs as of the last check. */
  let jobs: readonly Job[] = []

  function isUrgent({ job_name, started_at }: Job): boolean {
    const freesDisk = job_name === 'retention' && isDiskFull()
    const maxPauseMs = freesDisk ? FULL_DISK_PAUSE_MS : MAX_PAUSE_MS[job_name]
    if (maxPauseMs === undefined) return false
    return started_at === null || now() - Date.parse(started_at) > maxPauseMs
  }

  const isOverdue = ({ next_run_at, job_state }: Job) =>
    next_run_at !== null && job_state !== 'running' && now() - Date.parse(next_run_at) > OVERDUE_MS

  return {
    async check(database) {
      jobs = await database.system('jobs', tx => listJobs(tx), { accessMode: 'read only' })
      for (const job of jobs.filter(isUrgent)) await runner.runNow(database, job.job_name)
    },
    alarms() {
      const overdueNames = jobs.filter(isOverdue).map(({ job_name }) => job_name)
      const failures = jobs
        .filter(({ job_state, finished_at }) => job_state === 'failed' && finished_at !== null)
        .map(({ job_name, job_message }) => `the job ${job_name} has failed: ${job_message}`)
      return overdueNames.length === 0 ? failures : [...failures, describeOverdue(overdueNames)]
    },
  }
}

const describeOverdue = (names: readonly string[]) =>
  `the scheduler has not started the jobs ${names.join(', ')} for more than an hour: ` +
  'see why with ./eyrie status and ./eyrie logs'
