import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import { evaluateByTime } from './alerts/evaluate-by-time.ts'
import type { Database } from './db/database.ts'
import { logUnlessUnavailable } from './db/database-errors.ts'
import type { Events } from './events/events.ts'

const ALERTS_INTERVAL_MS = 1000
const PICTURES_INTERVAL_MS = 500
const RETENTION_INTERVAL_MS = 3_600_000

export interface BackgroundJobsOptions {
  events: Pick<Events, 'applyRetention' | 'fetchPictures'>
  /** Epoch ms. */
  now(): number
  log: Log
}

/** Work that runs periodically, whether or not engines send messages. */
export interface BackgroundJobs {
  start(database: Database): void
  stop(): Promise<void>
}

export function createBackgroundJobs({ events, now, log }: BackgroundJobsOptions): BackgroundJobs {
  const stopping = new AbortController()
  const { signal } = stopping
  const running: Promise<void>[] = []

  /** A failed run is repeated after the interval; consecutive failures are logged once. */
  async function repeat(job: string, intervalMs: number, run: () => Promise<void>): Promise<void> {
    let isFailing = false
    while (!signal.aborted) {
      try {
        await run()
        isFailing = false
      } catch (error) {
        if (!signal.aborted && !isFailing)
          logUnlessUnavailable(log, 'failed to run background job', { job })(error)
        isFailing = true
      }
      await wait(intervalMs, undefined, { signal }).catch(() => {})
    }
  }

  return {
    start(database) {
      running.push(
        repeat('retention', RETENTION_INTERVAL_MS, () => events.applyRetention(database)),
        repeat('alerts', ALERTS_INTERVAL_MS, () => evaluateByTime(database, now())),
        repeat('pictures', PICTURES_INTERVAL_MS, () => events.fetchPictures(database, signal)),
      )
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
