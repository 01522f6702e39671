import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import { evaluateByTime } from './alerts/evaluate-by-time.ts'
import type { Database } from './db/database.ts'
import { logUnlessUnavailable } from './db/database-errors.ts'
import { expireDeliveries } from './deliveries/claim-deliveries.ts'
import type { Events } from './events/events.ts'

const ALERTS_INTERVAL_MS = 1_000
const PICTURES_INTERVAL_MS = 500
const RETENTION_INTERVAL_MS = 3_600_000
const DELIVERIES_INTERVAL_MS = 60_000
/** Maximum time after which a failed job is run again. Retention, which frees space, must not wait an hour. */
const MAX_RETRY_MS = 10_000

export interface BackgroundJobsOptions {
  /** The stored events and pictures that the jobs maintain. */
  events: Pick<Events, 'applyRetention' | 'fetchPictures' | 'fetchSnapshots'>
  /** Epoch ms. */
  now(): number
  log: Log
}

/** Periodic work that does not depend on messages of engines: alerts, pictures and retention. */
export interface BackgroundJobs {
  start(database: Database): void
  stop(): Promise<void>
}

export function createBackgroundJobs({ events, now, log }: BackgroundJobsOptions): BackgroundJobs {
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
        repeat('retention', RETENTION_INTERVAL_MS, () => events.applyRetention(database)),
        repeat('alerts', ALERTS_INTERVAL_MS, () => evaluateByTime(database, now())),
        repeat('deliveries', DELIVERIES_INTERVAL_MS, () => expireDeliveries(database)),
        repeat('pictures', PICTURES_INTERVAL_MS, () => events.fetchPictures(database, signal)),
        repeat('snapshots', PICTURES_INTERVAL_MS, () => events.fetchSnapshots(database, signal)),
      )
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
