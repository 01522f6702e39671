import { CRON_OPTIONS } from '@eyrie/contract/cron'
import type { Job } from '@eyrie/contract/management/job'
import { Cron } from 'croner'

/** The schedule of a job, as in the settings file. */
export interface JobSchedule {
  /** A cron expression, or `off`. */
  schedule: string
  /** Maximum random delay of a run, in seconds. */
  jitter_s: number
}

/**
 * The start of a run may be later than now by this time, because the clocks of two machines differ.
 * A later start was stored while the clock was ahead.
 */
const MAX_CLOCK_DIFFERENCE_MS = 3_600_000

/** The properties of a job by which its next run is determined. */
export type KnownJob = Pick<Job, 'job_state' | 'started_at' | 'finished_at' | 'next_run_at'>

/**
 * Returns when a job runs next, in ms since 1970; undefined if it is off. A planned time that has
 * passed without a run is returned as it is, so the job is due at once. It then runs only once,
 * even if several runs were missed.
 *
 * `random` returns a number from 0 to 1, for the random delay of the next run.
 */
export function findNextRun(
  { schedule, jitter_s }: JobSchedule,
  job: KnownJob | undefined,
  now: number,
  random: () => number,
): number | undefined {
  if (schedule === 'off') return undefined
  if (job && isInterrupted(job)) return now

  const scheduledMs = findScheduledTime(schedule, now)
  const jitterMs = jitter_s * 1000
  const plannedMs = job && findPlannedRun(job, now)
  if (plannedMs !== undefined) {
    // A planned time is retained, so that a restart neither changes the random delay nor omits a
    // run. A time in the future that is too late for the schedule was planned by an earlier one.
    const isOfEarlierSchedule = plannedMs > now && plannedMs > scheduledMs + jitterMs
    if (!isOfEarlierSchedule) return plannedMs
  }
  return Number.isFinite(scheduledMs) ? scheduledMs + random() * jitterMs : undefined
}

/** Returns the next time of a cron expression, in ms since 1970; `Infinity` if there is none. */
function findScheduledTime(schedule: string, now: number): number {
  const cron = new Cron(schedule, CRON_OPTIONS)
  return cron.nextRun(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY
}

/** Returns the planned time of a job, in ms since 1970; undefined if it has run since then. */
function findPlannedRun({ next_run_at, started_at }: KnownJob, now: number): number | undefined {
  const plannedMs = parseTime(next_run_at)
  const startedMs = parseTime(started_at)
  if (plannedMs === undefined || startedMs === undefined) return plannedMs
  const isStartWrong = startedMs > now + MAX_CLOCK_DIFFERENCE_MS
  return isStartWrong || startedMs < plannedMs ? plannedMs : undefined
}

/** Whether the process that ran the job has ended before the job. */
const isInterrupted = ({ job_state, started_at, finished_at }: KnownJob) =>
  job_state !== 'running' && started_at !== null && finished_at === null

const parseTime = (text: string | null): number | undefined =>
  text === null ? undefined : Date.parse(text)
