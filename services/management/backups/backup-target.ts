/** A backup at its target. */
export interface StoredBackup {
  name: string
  bytes: number
}

/**
 * A place that stores backups. Its functions throw an `Error` that says what is
 * wrong and what to do.
 */
export interface BackupTarget {
  /** Returns the complete backups, the oldest first. */
  list(signal: AbortSignal): Promise<StoredBackup[]>
  /**
   * Throws an `Error` if a backup of this size does not fit. Does nothing if the target does not
   * know its free space.
   */
  assertSpace(bytes: number): Promise<void>
  /** Stores a file. The name exists only when the file is complete and durable. */
  store(name: string, path: string, signal: AbortSignal): Promise<void>
  remove(name: string, signal: AbortSignal): Promise<void>
}

const BACKUP_NAME = /^eyrie-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/
const DAY_MS = 86_400_000

/** Returns the name of a backup, such as `eyrie-20260131T020000Z.backup`. Names sort by time. */
export const toBackupName = (time: Date): string =>
  `eyrie-${time.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z.backup`

/**
 * Returns the time (epoch ms) in the name of a backup, or undefined for the name of another file.
 */
export function parseBackupTime(name: string): number | undefined {
  const [, ...parts] = BACKUP_NAME.exec(name) ?? []
  if (parts.length === 0) return undefined
  const [year, month, day, hour, minute, second] = parts
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/** Which backups are retained. */
export interface Retention {
  /** Number of the newest backups that are retained. */
  keep: number
  /** Backups that are younger than this number of days are retained in addition. */
  keepDays: number
}

/** Returns the backups to delete at a time (epoch ms). The newest backup is always retained. */
export function selectExpired(
  backups: readonly StoredBackup[],
  { keep, keepDays }: Retention,
  now: number,
): StoredBackup[] {
  // Only files whose name contains a time are backups.
  const isYoung = ({ name }: StoredBackup) => now - parseBackupTime(name)! < keepDays * DAY_MS
  return backups
    .toSorted((a, b) => (a.name < b.name ? 1 : -1))
    .slice(Math.max(1, keep))
    .filter(backup => !isYoung(backup))
}
