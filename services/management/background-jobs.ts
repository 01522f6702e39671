import { type Log, sleep } from '@eyrie/kit'
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
import { BACKGROUND } from './leases/lease-store.ts'
import { guardByLease, LeaseLostError, type Leases } from './leases/leases.ts'
import type { Failover } from './placement/failover.ts'
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
const FAILOVER_INTERVAL_MS = 2_000
/**
 * A job that has failed is repeated after its interval, or after this time if its interval is
 * longer.
 */
const MAX_RETRY_MS = 10_000

export interface BackgroundJobsOptions {
  /** The stored events and pictures that the jobs maintain. */
  events: Pick<Events, 'fetchPictures' | 'fetchSnapshots'>
  /** Runs the jobs that are requested, or that the scheduler does not start. */
  runner: JobRunner
  guard: JobGuard
  systemAlerts: Pick<SystemAlerts, 'evaluate'>
  failover: Pick<Failover, 'run'>
  /** Decides which management service runs the jobs. */
  leases: Leases
  /** Epoch ms. */
  now(): number
  log: Log
}

/**
 * Work that is repeated, most of it every few seconds, independently of messages from engines. Only
 * one of the management services on a database does it. The scheduler starts the jobs of
 * `maintenance-jobs.ts`, whose intervals are longer.
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
  failover,
  leases,
  now,
  log,
}: BackgroundJobsOptions): BackgroundJobs {
  const stopping = new AbortController()
  const { signal } = stopping
  const running: Promise<void>[] = []
  let stopLeases: (() => Promise<void>) | undefined

  /**
   * Runs a job periodically until `stop` is called. Of consecutive failures, only
   * the first is logged.
   */
  async function repeat(
    job: string,
    intervalMs: number,
    run: () => Promise<unknown>,
  ): Promise<void> {
    const logFailure = logUnlessUnavailable(log, 'failed to run background job', { job })
    let isFailureLogged = false
    while (!signal.aborted) {
      let delayMs = intervalMs
      try {
        await leases.waitForBackground(signal)
        await run()
        isFailureLogged = false
      } catch (error) {
        delayMs = Math.min(intervalMs, MAX_RETRY_MS)
        // Losing the lease is no failure: another service runs the jobs now.
        const isFailure = !signal.aborted && !(error instanceof LeaseLostError)
        if (isFailure && !isFailureLogged) {
          logFailure(error)
          isFailureLogged = true
        }
      }
      await sleep(delayMs, signal)
    }
  }

  return {
    start(database) {
      stopLeases = leases.start(database)
      const guarded = guardByLease(database, leases.instance_id, BACKGROUND)
      running.push(
        repeat('alerts', ALERTS_INTERVAL_MS, () => evaluateByTime(guarded, now())),
        repeat('schedules', SCHEDULES_INTERVAL_MS, () => renewArmedStates(guarded, now())),
        repeat('calendars', CALENDARS_INTERVAL_MS, () =>
          extendCalendars(guarded, new Date(now()), log),
        ),
        repeat('incidents', INCIDENTS_INTERVAL_MS, () => followUp(guarded, now())),
        repeat('live counts', LIVE_COUNTS_INTERVAL_MS, () => publishLiveCounts(guarded, now())),
        repeat('live feed', LIVE_FEED_INTERVAL_MS, () => expireMessages(guarded)),
        // Runs of jobs have leases of their own: they continue when another service takes over
        // the background jobs.
        repeat('requested jobs', REQUESTED_JOBS_INTERVAL_MS, () => runner.runRequested(database)),
        repeat('job guard', JOB_GUARD_INTERVAL_MS, () => guard.check(database)),
        repeat('system alerts', SYSTEM_ALERTS_INTERVAL_MS, () => systemAlerts.evaluate(guarded)),
        repeat('failover', FAILOVER_INTERVAL_MS, () => failover.run(guarded)),
        repeat('pictures', PICTURES_INTERVAL_MS, () => events.fetchPictures(guarded, signal)),
        repeat('snapshots', PICTURES_INTERVAL_MS, () => events.fetchSnapshots(guarded, signal)),
      )
    },
    async stop() {
      stopping.abort()
      await Promise.all([runner.stop(), ...running])
      await stopLeases?.()
    },
  }
}
