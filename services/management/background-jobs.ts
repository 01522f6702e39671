import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import { evaluateByTime } from './alerts/evaluate-by-time.ts'
import { extendCalendars } from './calendars/extend-calendars.ts'
import type { Database } from './db/database.ts'
import { logUnlessUnavailable } from './db/database-errors.ts'
import type { Events } from './events/events.ts'
import { expireMessages } from './feed/feed-log.ts'
import { publishLiveCounts } from './feed/live-counts.ts'
import { followUp } from './follow-up/follow-up.ts'
import type { JobGuard } from './jobs/job-guard.ts'
import type { JobRunner } from './jobs/job-runner.ts'
import { renewArmedStates } from './schedules/armed-alerts.ts'
import type { SystemAlerts } from './system-alerts/system-alerts.ts'

const ALERTS_INTERVAL_MS = 1_000
const PICTURES_INTERVAL_MS = 500
const REQUESTED_JOBS_INTERVAL_MS = 1_000
const JOB_GUARD_INTERVAL_MS = 60_000
const SCHEDULES_INTERVAL_MS = 5_000
const CALENDARS_INTERVAL_MS = 86_400_000
const INCIDENTS_INTERVAL_MS = 5_000
const LIVE_COUNTS_INTERVAL_MS = 1_000
const SYSTEM_ALERTS_INTERVAL_MS = 5_000
const LIVE_FEED_INTERVAL_MS = 60_000
/** Maximum time after which failed work is done again. */
const MAX_RETRY_MS = 10_000

export interface BackgroundJobsOptions {
  /** The stored events and pictures that the jobs maintain. */
  events: Pick<Events, 'fetchPictures' | 'fetchSnapshots'>
  /** Runs the jobs that are requested, or that the scheduler does not start. */
  runner: JobRunner
  guard: JobGuard
  systemAlerts: Pick<SystemAlerts, 'evaluate'>
  /** Epoch ms. */
  now(): number
  log: Log
}

/**
 * Work at intervals of seconds that does not depend on messages of engines: alerts, pictures. The scheduler starts jobs with longer
 * intervals, see `jobs`.
 */
export interface BackgroundJobs {
  start(database: Database): void
  stop(): Promise<void>
}

export function createBackgroundJobs({
  events,
  runner,
  guard,
  systemAlerts,
  now,
  log,
}: BackgroundJobsOptions): BackgroundJobs {
  const stopping = new AbortController()
  const { signal } = stopping
  const running: Promise<void>[] = []

  /** Runs a job periodically until `stop` is called. Of consecutive failures, only the first is logged. */
  async function repeat(job: string, intervalMs: number, run: () => Promise<unknown>): Promise<void> {
    const logFailure = logUnlessUnavailable(log, 'failed to run background job', { job })
    let hasFailed = false
    while (!signal.aborted) {
      try {
        await run()
        hasFailed = false
      } catch (error) {
        if (!signal.aborted && !hasFailed) logFailure(error)
        hasFailed = true
      }
      const delayMs = hasFailed ? Math.min(intervalMs, MAX_RETRY_MS) : intervalMs
      await wait(delayMs, undefined, { signal }).catch(() => {})
    }
  }

  return {
    start(database) {
      running.push(
        repeat('alerts', ALERTS_INTERVAL_MS, () => evaluateByTime(database, now())),
        repeat('schedules', SCHEDULES_INTERVAL_MS, () => renewArmedStates(database, now())),
        repeat('calendars', CALENDARS_INTERVAL_MS, () => extendCalendars(database, new Date(now()), log)),
        repeat('incidents', INCIDENTS_INTERVAL_MS, () => followUp(database, now())),
        repeat('live counts', LIVE_COUNTS_INTERVAL_MS, () => publishLiveCounts(database, now())),
        repeat('live feed', LIVE_FEED_INTERVAL_MS, () => expireMessages(database)),
        repeat('requested jobs', REQUESTED_JOBS_INTERVAL_MS, () => runner.runRequested(database)),
        repeat('job guard', JOB_GUARD_INTERVAL_MS, () => guard.check(database)),
        repeat('system alerts', SYSTEM_ALERTS_INTERVAL_MS, () => systemAlerts.evaluate(database)),
        repeat('pictures', PICTURES_INTERVAL_MS, () => events.fetchPictures(database, signal)),
        repeat('snapshots', PICTURES_INTERVAL_MS, () => events.fetchSnapshots(database, signal)),
      )
    },
    async stop() {
      stopping.abort()
      await Promise.all([runner.stop(), ...running])
    },
  }
}
