import { formatBytes } from '@eyrie/contract/format-bytes'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { createObservation, type Observation, type Subject } from './observation.ts'

// Rules about the machines of engines and of the appliance: disk, clock, certificate,
// license and backups.

/** The machine that is observed, and by what rules. */
export interface ObservedMachine {
  subject: Subject
  nowMs: number
  thresholds: SystemAlertSettings['thresholds']
}

const DAY_MS = 86_400_000

export interface DiskSpace {
  free_bytes: number
  total_bytes: number
}

/** Reports a disk with little free space. Without `space`, the state of the disk is unknown. */
export function observeDisk(
  space: DiskSpace | undefined,
  { subject, thresholds }: ObservedMachine,
): Observation {
  if (!space || space.total_bytes === 0) {
    return createObservation('disk_filling', subject, undefined)
  }
  const percent = (space.free_bytes / space.total_bytes) * 100
  const reason = `only ${formatBytes(space.free_bytes)} are free, ${percent.toFixed(1)} % of the disk`
  return createObservation('disk_filling', subject, percent < thresholds.disk_free_percent, reason)
}

/**
 * Reports an engine whose clock differs from the clock of management by `differenceMs`. The engine
 * has read its clock during a request that took `requestMs`. The exact moment is unknown, so half
 * of this time is tolerated in addition.
 */
export function observeClock(
  differenceMs: number,
  requestMs: number,
  { subject, thresholds }: ObservedMachine,
): Observation {
  const certainMs = Math.max(0, Math.abs(differenceMs) - requestMs / 2)
  const direction = differenceMs > 0 ? 'ahead of' : 'behind'
  const reason = `its clock is ${Math.round(Math.abs(differenceMs) / 1000)} seconds ${direction} the clock of management`
  return createObservation('clock_wrong', subject, certainMs > thresholds.clock_s * 1000, reason)
}

/**
 * Reports a certificate or license that has ended or ends soon. `endsAt` is
 * undefined if it does not end.
 */
export function observeEnd(
  kind: 'certificate_ending' | 'license_ending',
  endsAt: Date | undefined,
  { subject, nowMs, thresholds }: ObservedMachine,
): Observation {
  if (!endsAt) return createObservation(kind, subject, false)
  const leftMs = endsAt.getTime() - nowMs
  const name = kind === 'certificate_ending' ? 'the TLS certificate' : 'the license'
  const date = endsAt.toISOString().slice(0, 10)
  const reason =
    leftMs <= 0 ? `${name} ended on ${date}` : `${name} ends on ${date}, in ${formatDays(leftMs)}`
  return createObservation(kind, subject, leftMs < thresholds.ending_days * DAY_MS, reason)
}

/** What is known about the backups of the appliance. */
export interface BackupState {
  /** When the newest successful backup was finished; undefined before the first. */
  finishedAt: Date | undefined
  /**
   * When the first scheduled backup was due, if that time has passed; undefined if no
   * backups are scheduled.
   */
  missedAt: Date | undefined
  isRunning: boolean
}

/** Reports that the newest backup is too old, or that no scheduled backup has succeeded. */
export function observeBackup(
  { finishedAt, missedAt, isRunning }: BackupState,
  { subject, nowMs, thresholds }: ObservedMachine,
): Observation {
  const { backup_days: backupDays } = thresholds
  const observe = (isPresent: boolean | undefined, reason?: string) =>
    createObservation('backup_overdue', subject, isPresent, reason)

  if (backupDays === 0) return observe(false)
  if (finishedAt) {
    const ageMs = nowMs - finishedAt.getTime()
    return observe(ageMs > backupDays * DAY_MS, `the newest backup is ${formatDays(ageMs)} old`)
  }
  // The backup that is running may be the first one to succeed.
  if (isRunning) return observe(undefined)
  if (!missedAt) return observe(false)
  const date = missedAt.toISOString().slice(0, 10)
  return observe(
    true,
    `there is no backup, although backups are scheduled and the first one was due on ${date}`,
  )
}

const formatDays = (ms: number) => {
  const days = Math.floor(ms / DAY_MS)
  return days === 1 ? '1 day' : `${days} days`
}
