import type { Job } from '@eyrie/contract/management/job'
import { Cron } from 'croner'

/** The schedule of a job, as in the settings file. */
export interface JobSchedule {
  /** A cron expression, or `off`. */
  schedule: string
  jitter_s: number
}

/** What the schedule needs to know about a job. */
export type KnownJob = Pick<Job, 'job_state' | 'started_at' | 'finished_at' | 'next_run_at'>

/**
 * Returns when a job runs next, in epoch ms; undefined if it is off. A planned time that has passed without a run is in the past:
 * the job is due at once, and only once, however many runs were missed.
 *
 * `random` returns a number from 0 to 1, for the random delay.
 */
export function findNextRun(
  { schedule, jitter_s }: JobSchedule,
  job: KnownJob | undefined,
  now: number,
  random: () => number,
): number | undefined {
  if (schedule === 'off') return undefined
  if (job && isInterrupted(job)) return now
  const delayMs = random() * jitter_s * 1000
  const next = new Cron(schedule, { mode: '5-part', sloppyRanges: true }).nextRun(new Date(now))
  const nextMs = next ? next.getTime() + delayMs : undefined

  const plannedMs = parseTime(job?.next_run_at)
  const startedMs = parseTime(job?.started_at)
  const wasRun = plannedMs === undefined || (startedMs !== undefined && startedMs >= plannedMs)
  if (wasRun) return nextMs
  // A time that is still planned is kept, so that a restart neither changes the delay nor leaves out a run. A schedule that was
  // edited may be due earlier.
  const isKept = plannedMs <= now || nextMs === undefined || plannedMs <= next!.getTime() + jitter_s * 1000
  return isKept ? plannedMs : nextMs
}

/** The process that ran the job has ended before the job. */
const isInterrupted = ({ job_state, started_at, finished_at }: KnownJob) =>
  job_state !== 'running' && started_at !== null && finished_at === null

const parseTime = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined ? undefined : Date.parse(text)
