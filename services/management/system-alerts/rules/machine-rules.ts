import { formatBytes } from '@eyrie/contract/format-bytes'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import type { Observation, Subject } from './observation.ts'

type Thresholds = SystemAlertSettings['thresholds']

const DAY_MS = 86_400_000

export interface DiskSpace {
  free_bytes: number
  total_bytes: number
}

export function observeDisk(
  space: DiskSpace | undefined,
  subject: Subject,
  { disk_free_percent }: Thresholds,
): Observation {
  const kind = 'disk_filling'
  if (!space || space.total_bytes === 0) return { kind, subject, isPresent: undefined, reason: '' }
  const percent = (space.free_bytes / space.total_bytes) * 100
  const isPresent = percent < disk_free_percent
  const reason = `only ${formatBytes(space.free_bytes)} are free, ${percent.toFixed(1)} % of the disk`
  return { kind, subject, isPresent, reason: isPresent ? reason : '' }
}

/**
 * Compares the clock of an engine with that of management. `requestMs` is the time between the request and the response, in which
 * the clock was read: the difference is known no more exactly.
 */
export function observeClock(
  differenceMs: number,
  requestMs: number,
  subject: Subject,
  { clock_s }: Thresholds,
): Observation {
  const certainMs = Math.max(0, Math.abs(differenceMs) - requestMs / 2)
  const isPresent = certainMs > clock_s * 1000
  const direction = differenceMs > 0 ? 'ahead of' : 'behind'
  const reason = `its clock is ${Math.round(Math.abs(differenceMs) / 1000)} seconds ${direction} the clock of management`
  return { kind: 'clock_wrong', subject, isPresent, reason: isPresent ? reason : '' }
}

/** `endsAt`: when the certificate or license ends; undefined if it does not end. */
export function observeEnd(
  kind: 'certificate_ending' | 'license_ending',
  endsAt: Date | undefined,
  subject: Subject,
  nowMs: number,
  { ending_days }: Thresholds,
): Observation {
  const leftMs = endsAt ? endsAt.getTime() - nowMs : Number.POSITIVE_INFINITY
  const isPresent = leftMs < ending_days * DAY_MS
  const name = kind === 'certificate_ending' ? 'the TLS certificate' : 'the license'
  const time = endsAt?.toISOString().slice(0, 10)
  const reason =
    leftMs <= 0 ? `${name} ended on ${time}` : `${name} ends on ${time}, in ${formatDays(leftMs)}`
  return { kind, subject, isPresent, reason: isPresent ? reason : '' }
}

/** What is known about the backups of the appliance. */
export interface BackupState {
  /** When the newest successful backup was finished; undefined before the first. */
  finishedAt: Date | undefined
  /** When the first scheduled backup was due, if that time has passed; undefined if no backups are scheduled. */
  missedAt: Date | undefined
  isRunning: boolean
}

/** Reports a newest backup that is too old, and a scheduled one that is missing. */
export function observeBackup(
  { finishedAt, missedAt, isRunning }: BackupState,
  subject: Subject,
  nowMs: number,
  { backup_days }: Thresholds,
): Observation {
  const kind = 'backup_overdue'
  if (backup_days === 0) return { kind, subject, isPresent: false, reason: '' }
  if (finishedAt) {
    const ageMs = nowMs - finishedAt.getTime()
    const isPresent = ageMs > backup_days * DAY_MS
    return {
      kind,
      subject,
      isPresent,
      reason: isPresent ? `the newest backup is ${formatDays(ageMs)} old` : '',
    }
  }
  // The run may be the first one to succeed.
  if (isRunning) return { kind, subject, isPresent: undefined, reason: '' }
  const date = missedAt?.toISOString().slice(0, 10)
  const reason = `there is no backup, although backups are scheduled and the first one was due on ${date}`
  return { kind, subject, isPresent: missedAt !== undefined, reason: missedAt ? reason : '' }
}

const formatDays = (ms: number) => {
  const days = Math.floor(ms / DAY_MS)
  return days === 1 ? '1 day' : `${days} days`
}
