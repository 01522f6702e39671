import { eq } from 'drizzle-orm'
import { readRedactedBackupSettings } from '../backups/backup-settings.ts'
import type { Transaction } from '../db/database.ts'
import { NEWEST_BACKUP, setting } from '../db/schema/index.ts'
import { readJob } from '../jobs/job-store.ts'
import type { BackupState } from './rules/machine-rules.ts'

/**
 * The scheduler may need so long to start a job that is due, for example because it starts itself.
 */
const MAX_DELAY_MS = 3_600_000

export async function readBackupState(tx: Transaction, nowMs: number): Promise<BackupState> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, NEWEST_BACKUP))
  const time = (row?.value as { finished_at?: string } | undefined)?.finished_at
  if (time !== undefined) {
    return { finishedAt: new Date(time), missedAt: undefined, isRunning: false }
  }

  const { backup_target: backupTarget } = await readRedactedBackupSettings(tx)
  const {
    job_state: jobState,
    started_at: startedAt,
    finished_at: finishedAt,
    next_run_at: nextRunAt,
  } = await readJob(tx, 'backup')
  const isScheduled = backupTarget !== 'off' && nextRunAt !== null
  const hasFailed = jobState === 'failed' && finishedAt !== null
  const isLate = nextRunAt !== null && nowMs - Date.parse(nextRunAt) > MAX_DELAY_MS
  const missed = hasFailed ? startedAt : isLate ? nextRunAt : null
  return {
    finishedAt: undefined,
    missedAt: isScheduled && missed !== null ? new Date(missed) : undefined,
    isRunning: isScheduled && startedAt !== null && finishedAt === null,
  }
}
