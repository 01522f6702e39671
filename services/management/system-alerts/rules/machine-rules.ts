import { formatBytes } from '@eyrie/contract/format-bytes'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { createObservation, type Observation, type Subject, toPresence } from './observation.ts'

// Rules about the machines of engines and of the appliance: disk, clock, certificate,
// license and backups.

const DAY_MS = 86_400_000

/** The machine that is observed, and the thresholds of the rules. */
export interface ObservedMachine {
  subject: Subject
  nowMs: number
  thresholds: SystemAlertSettings['thresholds']
}

export interface DiskSpace {
  free_bytes: number
  total_bytes: number
}

/** Reports a disk with little free space. Without `space`, the state of the disk is unknown. */
export function observeDisk(
  space: DiskSpace | undefined,
  { subject, thresholds }: ObservedMachine,
): Observation {
  const failure = { kind: 'disk_filling', subject } as const
  if (!space || space.total_bytes === 0) {
    return createObservation({ ...failure, presence: 'unknown' })
  }

  const percent = (space.free_bytes / space.total_bytes) * 100
  return createObservation({
    ...failure,
    presence: toPresence(percent < thresholds.disk_free_percent),
    reason: `only ${formatBytes(space.free_bytes)} are free, ${percent.toFixed(1)} % of the disk`,
  })
}

/** The time that an engine has reported in the response to a request. Times are in epoch ms. */
export interface ClockReading {
  engineMs: number
  /** When the request was sent, by the clock of management. */
  requestedMs: number
  /** When the response was received, by the clock of management. */
  receivedMs: number
}

/** Reports an engine whose clock differs from the clock of management. */
export function observeClock(
  { engineMs, requestedMs, receivedMs }: ClockReading,
  { subject, thresholds }: ObservedMachine,
): Observation {
  // The estimate assumes that the engine read its clock in the middle of the request. It may have
  // done so at the start or at the end, so the difference may be smaller by half the duration.
  const differenceMs = engineMs - (requestedMs + receivedMs) / 2
  const uncertaintyMs = (receivedMs - requestedMs) / 2
  const minDifferenceMs = Math.max(0, Math.abs(differenceMs) - uncertaintyMs)

  const seconds = Math.round(Math.abs(differenceMs) / 1000)
  const direction = differenceMs > 0 ? 'ahead of' : 'behind'
  return createObservation({
    kind: 'clock_wrong',
    subject,
    presence: toPresence(minDifferenceMs > thresholds.clock_s * 1000),
    reason: `its clock is ${seconds} seconds ${direction} the clock of management`,
  })
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
  if (!endsAt) return createObservation({ kind, subject, presence: 'absent' })

  const leftMs = endsAt.getTime() - nowMs
  const name = kind === 'certificate_ending' ? 'the TLS certificate' : 'the license'
  const date = endsAt.toISOString().slice(0, 10)
  return createObservation({
    kind,
    subject,
    presence: toPresence(leftMs < thresholds.ending_days * DAY_MS),
    reason:
      leftMs <= 0
        ? `${name} ended on ${date}`
        : `${name} ends on ${date}, in ${formatDays(leftMs)}`,
  })
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
  const failure = { kind: 'backup_overdue', subject } as const

  if (backupDays === 0) return createObservation({ ...failure, presence: 'absent' })
  if (finishedAt) {
    const ageMs = nowMs - finishedAt.getTime()
    return createObservation({
      ...failure,
      presence: toPresence(ageMs > backupDays * DAY_MS),
      reason: `the newest backup is ${formatDays(ageMs)} old`,
    })
  }

  // The backup that is running may be the first one to succeed.
  if (isRunning) return createObservation({ ...failure, presence: 'unknown' })
  if (!missedAt) return createObservation({ ...failure, presence: 'absent' })
  const date = missedAt.toISOString().slice(0, 10)
  return createObservation({
    ...failure,
    presence: 'present',
    reason: `there is no backup, although backups are scheduled and the first one was due on ${date}`,
  })
}

/** Formats a duration in whole days, rounded down: `3 days`, `1 day` or `less than a day`. */
const formatDays = (ms: number) => {
  const days = Math.floor(ms / DAY_MS)
  if (days === 0) return 'less than a day'
  return days === 1 ? '1 day' : `${days} days`
}
