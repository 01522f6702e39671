import { resolve } from 'node:path'
import { type Egress, type Log, readSettings, type TlsIdentity } from '@eyrie/kit'
import { createArchiveWriter } from './backups/archive-writer.ts'
import { runScheduledBackup } from './backups/scheduled-backup.ts'
import { expireDeliveries } from './deliveries/claim-deliveries.ts'
import type { Events } from './events/events.ts'
import type { LocalEngine } from './fleet/registry/local-engine.ts'
import { createUpstream } from './http/live/upstream-client.ts'
import { createExpiryCheck } from './jobs/check-expiry.ts'
import { cleanPictures } from './jobs/clean-pictures.ts'
import type { JobWorks } from './jobs/job.ts'
import { createJobGuard, type JobGuard } from './jobs/job-guard.ts'
import { createJobRunner, type JobRunner } from './jobs/job-runner.ts'
import { maintainDatabase } from './jobs/maintain-database.ts'
import { sendDueReports } from './reports/scheduled/send-reports.ts'
import { createRetentionJob } from './retention-job.ts'
import type { Secrets } from './secrets/secrets.ts'

/** The environment of the jobs. */
export interface JobsEnvironment {
  /** Opens the connections to the storage of backups. */
  backupEgress: Egress
  /** URL of an external Postgres, for the program that writes backups. */
  databaseUrl?: string | undefined
  /** Whether a supervisor runs this process. */
  isSupervised?: boolean
  /** The certificate of the appliance. */
  tls?: TlsIdentity | undefined
  /** Whether the disk of the data folder is full or almost full. */
  isDiskFull?: () => boolean
}

export interface JobsOptions extends JobsEnvironment {
  /** Folder of the appliance's data. */
  data: string
  events: Pick<Events, 'applyRetention'>
  secrets: Secrets
  localEngine?: LocalEngine | undefined
  now(): Date
  log: Log
}

/** The jobs that maintain the appliance. The scheduler starts them. */
export interface Jobs {
  runner: JobRunner
  /** Starts jobs that the scheduler should have started. */
  guard: JobGuard
  /**
   * Returns a message for each problem of the jobs, and for each license or
   * certificate that ends soon.
   */
  alarms(): string[]
}

/** Creates the jobs that maintain the appliance, one for each name in `@eyrie/contract/jobs`. */
export function createJobs(options: JobsOptions): Jobs {
  const { data, events, secrets, localEngine, now, log } = options
  const { backupEgress, databaseUrl, isSupervised = false, tls, isDiskFull = () => false } = options
  const nowMs = () => now().getTime()
  const startedAt = nowMs()
  const { management, engine } = readSettings(data)
  const writeArchive = createArchiveWriter({ data, databaseUrl, isSupervised })
  const expiry = createExpiryCheck({
    tls,
    licensePool: engine.license_pool,
    engine: createUpstream({
      name: 'engine',
      url: localEngine?.url ?? '',
      token: localEngine?.token,
    }),
    now: nowMs,
  })

  const works: JobWorks = {
    retention: createRetentionJob({
      data,
      events,
      retentionDays: management.retention_days,
      isDiskFull,
      now: nowMs,
      log,
    }),
    async deliveries({ database, signal }) {
      const count = await expireDeliveries(database, signal)
      return count === 0 ? 'no message has expired' : `gave up ${count} messages`
    },
    async reports({ database, signal }) {
      const options = { now: nowMs(), startedAt, signal }
      const { sent, failed, waiting } = await sendDueReports(database, options)
      const isNoneDue = sent === 0 && waiting.length === 0
      const results = [isNoneDue ? 'no report was due' : `sent ${sent} reports`]
      if (waiting.length > 0) {
        results.push(`waiting for the events of an engine: ${quote(waiting)}`)
      }
      if (failed.length > 0) {
        results.push(`could not create ${quote(failed)}: read why with /report/schedule/list`)
      }
      return results.join('; ')
    },
    pictures: context =>
      cleanPictures(context, {
        pictures: resolve(data, 'management/pictures'),
        images: resolve(data, 'management/images'),
        now: nowMs,
      }),
    database: maintainDatabase,
    backup: context =>
      runScheduledBackup(context, {
        data,
        secrets,
        egress: backupEgress,
        write: writeArchive,
        now,
      }),
    expiry: expiry.run,
  }
  const runner = createJobRunner(works, log)
  const guard = createJobGuard({ runner, isDiskFull, now: nowMs })
  return { runner, guard, alarms: () => [...guard.alarms(), ...expiry.alarms()] }
}

/** Returns names in a message, such as `"Visitors", "Queue"`. */
const quote = (names: readonly string[]) => names.map(name => `"${name}"`).join(', ')
