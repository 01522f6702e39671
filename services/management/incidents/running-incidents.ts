import type { AlertPolicy } from '@eyrie/contract/management/alert-policy'
import type { BBox } from '@eyrie/contract/object'
import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { incident } from '../db/schema/index.ts'
import { isAnyOf } from '../db/text-array.ts'

const MINUTE_MS = 60_000

export type IncidentRow = typeof incident.$inferSelect

/** The part of an alert that incidents need. */
export interface IncidentAlert {
  alert_id: string
  alert_name: string
  alert_priority: string
  channel_id: string
  usecase_key: string
  threshold: number
  policy: AlertPolicy
}

/** A notification that is about to be stored. */
export interface IncidentNotification {
  alert: IncidentAlert
  notification_uuid: string
  /** Epoch ms. */
  timeMs: number
  value: number
  bbox: BBox | null
  /**
   * When the condition had been released before the alert fired, in epoch ms.
   * Undefined if it had not.
   */
  previousReleasedAt: number | undefined
}

/**
 * The incidents of some alerts that have not ended. Their rows are locked until the
 * end of the transaction.
 */
export interface RunningIncidents {
  /**
   * Adds a notification to the incident of its alert, or begins an incident. Notifications must be
   * added in the order in which the alert fired.
   */
  add(notification: IncidentNotification): Promise<IncidentRow>
  /** Records that people are informed of a notification. The first one starts the escalation. */
  markNotified(row: IncidentRow, alert: IncidentAlert, timeMs: number): void
  /** Stores the changes of all incidents. */
  store(): Promise<void>
}

export async function loadRunningIncidents(
  tx: Transaction,
  alertIds: readonly string[],
): Promise<RunningIncidents> {
  const rows = await tx
    .select()
    .from(incident)
    .where(and(isAnyOf(incident.alert_id, alertIds), isNull(incident.ended_at)))
    .orderBy(asc(incident.incident_id))
    .for('update')
  const running = new Map(rows.map(row => [row.alert_id, row]))
  const changed = new Set<IncidentRow>()

  async function begin(notification: IncidentNotification): Promise<IncidentRow> {
    const row = await insertIncident(tx, notification)
    running.set(notification.alert.alert_id, row)
    return row
  }

  return {
    async add(notification) {
      const row = running.get(notification.alert.alert_id)
      if (!row) return begin(notification)

      const endMs = findEnd(row, notification)
      if (endMs !== undefined) {
        // Only a background job ends incidents. It has not run yet, or the messages arrive late.
        await updateIncident(tx, { ...row, ended_at: new Date(endMs) })
        changed.delete(row)
        return begin(notification)
      }
      includeNotification(row, notification)
      changed.add(row)
      return row
    },
    markNotified(row, { policy }, timeMs) {
      const [firstStep] = policy.escalation
      if (row.notified_at === null && row.acknowledged_at === null && firstStep) {
        row.escalates_at = new Date(Date.now() + firstStep.after_minutes * MINUTE_MS)
      }
      row.notified_at = new Date(timeMs)
      changed.add(row)
    },
    async store() {
      for (const row of changed) await updateIncident(tx, row)
    },
  }
}

/** Stores a new incident, which begins with a notification. */
async function insertIncident(
  tx: Transaction,
  { alert, notification_uuid, timeMs, value, bbox }: IncidentNotification,
): Promise<IncidentRow> {
  const time = new Date(timeMs)
  const rows = await tx
    .insert(incident)
    .values({
      alert_id: alert.alert_id,
      channel_id: alert.channel_id,
      alert_name: alert.alert_name,
      alert_priority: alert.alert_priority,
      usecase_key: alert.usecase_key,
      started_at: time,
      last_at: time,
      count: 1,
      peak: value,
      best_notification: notification_uuid,
      best_area: computeArea(bbox),
    })
    .returning()
  return firstRow(rows)
}

/** Stores all fields of an incident. */
async function updateIncident(
  tx: Transaction,
  { incident_id, ...fields }: IncidentRow,
): Promise<void> {
  await tx.update(incident).set(fields).where(eq(incident.incident_id, incident_id))
}

/**
 * Returns when an incident had ended before a notification, in epoch ms. Returns undefined if its
 * condition was not released, or was released for less than `quiet_s`. An incident of a time at
 * which the clock was ahead has ended too: it must not silence the alert until then.
 */
function findEnd(
  { last_at }: IncidentRow,
  { alert, timeMs, previousReleasedAt }: IncidentNotification,
): number | undefined {
  if (previousReleasedAt === undefined) return undefined
  const endMs = Math.max(previousReleasedAt, last_at.getTime())
  return Math.abs(timeMs - endMs) >= alert.policy.quiet_s * 1000 ? endMs : undefined
}

/** Updates the row of an incident to include a further notification. */
function includeNotification(row: IncidentRow, notification: IncidentNotification): void {
  const { alert, notification_uuid, timeMs, value, bbox } = notification
  const area = computeArea(bbox)
  const isNewPeak = computeDistance(value, alert) > computeDistance(row.peak, alert)
  // The best notification is the one with the largest box, because its picture shows the object
  // best. Without boxes it is the one of the peak, because its picture shows most objects.
  const isBetter = area > row.best_area || (area === 0 && row.best_area === 0 && isNewPeak)
  if (isBetter) {
    row.best_notification = notification_uuid
    row.best_area = area
  }
  if (isNewPeak) row.peak = value
  row.count += 1
  row.started_at = new Date(Math.min(row.started_at.getTime(), timeMs))
  row.last_at = new Date(Math.max(row.last_at.getTime(), timeMs))
}

/** Returns the area of a box; 0 without a box. */
const computeArea = (bbox: BBox | null) => (bbox ? bbox.w * bbox.h : 0)
/** Returns how far a value is from the threshold of an alert. */
const computeDistance = (value: number, { threshold }: IncidentAlert) => Math.abs(value - threshold)
