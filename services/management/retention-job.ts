import { resolve } from 'node:path'
import { createRetentionClock, type Log } from '@eyrie/kit'
import type { Database } from './db/database.ts'
import type { Events } from './events/events.ts'
import type { JobWork } from './jobs/job.ts'
import { readJob } from './jobs/job-store.ts'
import { deleteOldAlerts } from './system-alerts/alert-store.ts'

export interface RetentionJobOptions {
  /** Folder of the appliance's data. */
  data: string
  events: Pick<Events, 'applyRetention'>
  retentionDays: number
  /** Whether the disk of the data folder is full or almost full. */
  isDiskFull(): boolean
  /** Epoch ms. */
  now(): number
  log: Log
}

/** Creates the work of the job `retention`, which deletes expired data. */
export function createRetentionJob({
  data,
  events,
  retentionDays,
  isDiskFull,
  now,
  log,
}: RetentionJobOptions): JobWork {
  const clock = createRetentionClock({
    file: resolve(data, 'management/retention-clock.json'),
    wall: now,
    log,
  })

  return async ({ database, signal }) => {
    const trusted = await clock.read(() => findLastRun(database))
    // A full disk is worse than a clock that may be wrong.
    const nowMs = isDiskFull() ? now() : trusted.nowMs
    const isDone = await events.applyRetention(database, nowMs, signal)
    await deleteOldAlerts(database, nowMs, signal)

    const parts = [`deleted what is older than ${retentionDays} days`]
    if (!isDone) parts.push('events are in use, and are left to the next run')
    if (trusted.postponedUntilMs !== undefined) {
      const until = new Date(trusted.postponedUntilMs).toISOString()
      parts.push(`the clock has leapt ahead, and is trusted from ${until}: set it if it is wrong`)
    }
    return parts.join('; ')
  }
}

/** Returns the end of the last run that succeeded, in epoch ms. */
async function findLastRun(database: Database): Promise<number | undefined> {
  const { succeeded_at } = await database.system('jobs', tx => readJob(tx, 'retention'))
  return succeeded_at === null ? undefined : Date.parse(succeeded_at)
}
