import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@eyrie/contract/format-bytes'
import type { BackupSettings } from '@eyrie/contract/management/backup-settings'
import type { Egress } from '@eyrie/kit'
import { sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { type JobContext, JobSkippedError } from '../jobs/job.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { listFiles } from '../upkeep/data-files.ts'
import { assertOwnSpace, type WriteArchive } from './archive-writer.ts'
import { readBackupSettings } from './backup-settings.ts'
import {
  type BackupTarget,
  type StoredBackup,
  selectExpired,
  toBackupName,
} from './backup-target.ts'
import { createFolderTarget } from './folder-target.ts'
import { createS3Target } from './s3-target.ts'

/** A backup is expected to be larger than the previous one by at most this factor. */
const MAX_GROWTH = 1.2
/**
 * Size of an archive in relation to the database: rows as text are about as large, and compression
 * leaves less than half.
 */
const DATABASE_COMPRESSION = 0.5

export interface ScheduledBackupOptions {
  /** Folder of the appliance's data. */
  data: string
  secrets: Secrets
  /** Opens the connections to the storage. */
  egress: Egress
  write: WriteArchive
  now(): Date
}

/**
 * Runs the job `backup`: writes an encrypted backup, stores it at the target of the settings, and
 * deletes old backups there. Returns the message of the job. Throws `JobSkippedError` if no target
 * is configured, or an `Error` that says what to do.
 */
export async function runScheduledBackup(
  { database, signal }: Pick<JobContext, 'database' | 'signal'>,
  { data, secrets, egress, write, now }: ScheduledBackupOptions,
): Promise<string> {
  const settings = await database.system('backup', tx => readBackupSettings(tx, secrets))
  const target = createTarget(settings, egress)
  // If the target cannot be used, listing its backups fails before a new one is written.
  const earlier = await target.list(signal)
  const expectedBytes = await estimateSize(database, data, earlier)
  await target.assertSpace(expectedBytes)
  await assertOwnSpace(data, expectedBytes)

  const name = toBackupName(now())
  const archive = await write(settings.backup_passphrase, signal)
  try {
    const { size } = await stat(archive.path)
    await target.store(name, archive.path, signal)

    const stored = await target.list(signal)
    const retention = { keep: settings.backup_keep, keepDays: settings.backup_keep_days }
    const expired = selectExpired(stored, retention, now().getTime())
    for (const backup of expired) await target.remove(backup.name, signal)
    const counts = describeCounts(stored.length - expired.length, expired.length)
    return `stored ${name} with ${formatBytes(size)}; ${counts}`
  } finally {
    await archive.discard()
  }
}

function describeCounts(retained: number, deleted: number): string {
  const retainedText = retained === 1 ? '1 backup is stored' : `${retained} backups are stored`
  const deletedText = deleted === 1 ? '1 old one was deleted' : `${deleted} old ones were deleted`
  return `${retainedText}, ${deletedText}`
}

function createTarget(settings: BackupSettings, egress: Egress): BackupTarget {
  switch (settings.backup_target) {
    case 'folder':
      return createFolderTarget(settings.backup_folder)
    case 's3':
      return createS3Target({
        endpoint: settings.backup_s3_endpoint,
        region: settings.backup_s3_region,
        bucket: settings.backup_s3_bucket,
        prefix: settings.backup_s3_prefix,
        accessKeyId: settings.backup_s3_access_key,
        secretAccessKey: settings.backup_s3_secret_key,
        egress,
      })
    case 'off':
      throw new JobSkippedError(
        'no target is configured: set backup_target with /config/backup/update',
      )
  }
}

/** Estimates the size of the next backup in bytes. */
async function estimateSize(
  database: Database,
  data: string,
  /** Sorted, the oldest first. */
  earlier: StoredBackup[],
): Promise<number> {
  const previous = earlier.at(-1)
  if (previous) return previous.bytes * MAX_GROWTH
  const rows = await database.system('backup', tx =>
    tx.execute<{ bytes: number }>(
      sql`select pg_database_size(current_database())::float8 as bytes`,
    ),
  )
  return firstRow(rows).bytes * DATABASE_COMPRESSION + (await measureFiles(data))
}

/**
 * Returns the size of the files in the backup. Files that only other services can read are omitted:
 * they are few and small.
 */
async function measureFiles(data: string): Promise<number> {
  // The list fails if a folder is readable only for another service. Then the database is the
  // whole estimate.
  const files = await listFiles(data).catch(() => [])
  let bytes = 0
  for (const file of files) {
    const status = await stat(join(data, file)).catch(() => undefined)
    bytes += status?.size ?? 0
  }
  return bytes
}
