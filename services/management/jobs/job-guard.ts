import type { JobName } from '@eyrie/contract/jobs'
import type { Job } from '@eyrie/contract/management/job'
import type { Database } from '../db/database.ts'
import type { JobRunner } from './job-runner.ts'
import { listJobs } from './job-store.ts'

const HOUR_MS = 3_600_000
/** Management runs these jobs by itself if the scheduler has not started them for so long, because its disk would fill up. */
const MAX_PAUSE_MS: Partial<Record<JobName, number>> = { retention: 26 * HOUR_MS, deliveries: 26 * HOUR_MS }
/** How often expired data is deleted while the disk is almost full. */
const FULL_DISK_PAUSE_MS = 600_000
/** A job that is due for longer is reported. */
const OVERDUE_MS = HOUR_MS

export interface JobGuardOptions {
  runner: JobRunner
  /** Whether the disk is full or almost full. */
  isDiskFull(): boolean
  /** Epoch ms. */
  now(): number
}

/** Protects the service from a scheduler that does not start jobs, and reports jobs that fail. */
export interface JobGuard {
  /** Runs the jobs that cannot wait for the scheduler. */
  check(database: Database): Promise<void>
  alarms(): string[]
}

export function createJobGuard({ runner, isDiskFull, now }: JobGuardOptions): JobGuard {
  let jobs: readonly Job[] = []

  /** Whether management runs the job by itself. */
  function isNeeded({ job_name, started_at }: Job): boolean {
    const maxPauseMs = job_name === 'retention' && isDiskFull() ? FULL_DISK_PAUSE_MS : MAX_PAUSE_MS[job_name]
    if (maxPauseMs === undefined) return false
    return started_at === null || now() - Date.parse(started_at) > maxPauseMs
  }

  const isOverdue = ({ next_run_at, job_state }: Job) =>
    next_run_at !== null && job_state !== 'running' && now() - Date.parse(next_run_at) > OVERDUE_MS

  return {
    async check(database) {
      jobs = await database.system('jobs', tx => listJobs(tx), { accessMode: 'read only' })
      for (const job of jobs) if (isNeeded(job)) await runner.runNow(database, job.job_name)
    },
    alarms() {
      const overdue = jobs.filter(isOverdue).map(({ job_name }) => job_name)
      const failures = jobs
        .filter(({ job_state, finished_at }) => job_state === 'failed' && finished_at !== null)
        .map(({ job_name, job_message }) => `the job ${job_name} has failed: ${job_message}`)
      if (overdue.length === 0) return failures
      const names = overdue.join(', ')
      return [
        ...failures,
        `the scheduler has not started the jobs ${names} for more than an hour: see why with ./eyrie status and ./eyrie logs`,
      ]
    },
  }
}
