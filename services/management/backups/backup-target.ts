const DAY_MS = 86_400_000
const BACKUP_NAME = /^eyrie-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/

/** A backup at its target. */
export interface StoredBackup {
  name: string
  bytes: number
}

/**
 * A place that stores backups, such as a folder or a bucket. Its functions throw an `Error` that
 * says what is wrong and what to do.
 */
export interface BackupTarget {
  /** Returns the complete backups, the oldest first. */
  list(signal: AbortSignal): Promise<StoredBackup[]>
  /**
   * Throws an `Error` if a backup of this size does not fit. Does nothing if the target does not
   * know its free space.
   */
  assertSpace(bytes: number): Promise<void>
  /** Stores the file at `path`. The name exists only when the copy is complete and durable. */
  store(name: string, path: string, signal: AbortSignal): Promise<void>
  remove(name: string, signal: AbortSignal): Promise<void>
}

/** Which backups are retained. */
export interface Retention {
  /** The number of newest backups that are retained at any age. */
  keep: number
  /** Older ones are retained too as long as they are younger than this number of days. */
  keepDays: number
}

/** Returns the backups to delete at `now` (epoch ms). The newest backup is always retained. */
export function selectExpired(
  backups: readonly StoredBackup[],
  { keep, keepDays }: Retention,
  now: number,
): StoredBackup[] {
  const isYoung = ({ name }: StoredBackup) => {
    const time = parseBackupTime(name)
    return time !== undefined && now - time < keepDays * DAY_MS
  }
  const newestFirst = backups.toSorted(compareNames).toReversed()
  const olderBackups = newestFirst.slice(Math.max(1, keep))
  return olderBackups.filter(backup => !isYoung(backup))
}

/** Compares backups by name, and so by time: the oldest is first. */
export const compareNames = (a: StoredBackup, b: StoredBackup): number => (a.name < b.name ? -1 : 1)

/** Returns the name of a backup, such as `eyrie-20260131T020000Z.backup`. Names sort by time. */
export function toBackupName(time: Date): string {
  const seconds = time.toISOString().slice(0, '2026-01-31T02:00:00'.length)
  return `eyrie-${seconds.replace(/[-:]/g, '')}Z.backup`
}

/**
 * Returns the time (epoch ms) in the name of a backup, or undefined for the name of another file.
 */
export function parseBackupTime(name: string): number | undefined {
  if (!BACKUP_NAME.test(name)) return undefined
  return Date.parse(name.replace(BACKUP_NAME, '$1-$2-$3T$4:$5:$6Z'))
}
