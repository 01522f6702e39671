import type { Job } from '@eyrie/contract/management/job'
import { Cron } from 'croner'

/** The schedule of a job, as in the settings file. */
export interface JobSchedule {
  /** A cron expression, or `off`. */
  schedule: string
  jitter_s: number
}

/** The properties of a job by which its next run is determined. */
export type KnownJob = Pick<Job, 'job_state' | 'started_at' | 'finished_at' | 'next_run_at'>

/**
 * Returns when a job runs next, in ms since 1970. Undefined if it is off. If a planned time has
 * passed without a run, returns that time. The job is then due at once. It runs only once, even if
 * several runs were missed.
 *
 * `random` returns a number from 0 to 1, for the random delay of the next run.
 */
export function findNextRun(
  { schedule, jitter_s: jitterS }: JobSchedule,
  job: KnownJob | undefined,
  now: number,
  random: () => number,
): number | undefined {
  if (schedule === 'off') return undefined
  if (job && isInterrupted(job)) return now

  const jitterMs = jitterS * 1000
  const cron = new Cron(schedule, { mode: '5-part', sloppyRanges: true })
  const scheduledMs = cron.nextRun(new Date(now))?.getTime()
  const delayedMs = scheduledMs === undefined ? undefined : scheduledMs + random() * jitterMs

  const plannedMs = parseTime(job?.next_run_at)
  const startedMs = parseTime(job?.started_at)
  const wasRun = plannedMs === undefined || (startedMs !== undefined && startedMs >= plannedMs)
  if (wasRun) return delayedMs

  // The planned time is retained, so that a restart neither changes the random delay nor omits a
  // run. If the schedule was edited, the next run may be due earlier.
  const isDueEarlier =
    scheduledMs !== undefined && scheduledMs + jitterMs < plannedMs && plannedMs > now
  return isDueEarlier ? delayedMs : plannedMs
}

/** Whether the process that ran the job has ended before the job. */
const isInterrupted = ({ job_state, started_at, finished_at }: KnownJob) =>
  job_state !== 'running' && started_at !== null && finished_at === null

const parseTime = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined ? undefined : Date.parse(text)
