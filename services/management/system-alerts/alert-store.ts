import type { SystemAlertReport } from '@eyrie/contract/management/system-alert-kind'
import { eq, inArray, isNull, lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { pictureReference, source, systemAlert } from '../db/schema/index.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { isAnyOf } from '../db/text-array.ts'
import { describeAlert } from './alert-texts.ts'
import type { Condition } from './rules/condition.ts'
import type { Observation } from './rules/observation.ts'
import type { PictureReference } from './rules/picture-rules.ts'

export type SystemAlertRow = typeof systemAlert.$inferSelect

/** How long alerts are retained after their end. */
const RETENTION_MS = 90 * 86_400_000

export const readOpenAlerts = (tx: Transaction): Promise<SystemAlertRow[]> =>
  tx.select().from(systemAlert).where(isNull(systemAlert.ended_at)).orderBy(systemAlert.opened_at)

/** Stores an alert that has begun. */
export async function insertAlert(
  tx: Transaction,
  { kind, subject, reason }: Observation,
  { beganMs, lastSeenMs, interruptions }: Condition,
  now: Date,
): Promise<void> {
  await tx
    .insert(systemAlert)
    .values({
      kind,
      subject: subject.key,
      subject_name: subject.name,
      engine_id: subject.engine_id,
      source_id: subject.source_id,
      message: describeAlert(kind, reason),
      began_at: new Date(beganMs),
      opened_at: now,
      last_seen_at: new Date(lastSeenMs),
      interruptions,
    })
    // The alert may be open already: conditions are in memory, and the process may have been
    // restarted after the insert.
    .onConflictDoNothing()
}

/** Stores the latest observation of an open alert. An empty reason leaves the message unchanged. */
export async function updateAlert(
  tx: Transaction,
  { system_alert_id: systemAlertId, kind, message }: SystemAlertRow,
  reason: string,
  { lastSeenMs, interruptions }: Condition,
): Promise<void> {
  await tx
    .update(systemAlert)
    .set({
      last_seen_at: new Date(lastSeenMs),
      interruptions,
      message: reason === '' ? message : describeAlert(kind, reason),
    })
    .where(eq(systemAlert.system_alert_id, systemAlertId))
}

export async function closeAlerts(
  tx: Transaction,
  alerts: readonly SystemAlertRow[],
  now: Date,
): Promise<void> {
  const ids = alerts.map(({ system_alert_id }) => system_alert_id)
  await tx
    .update(systemAlert)
    .set({ ended_at: now })
    .where(inArray(systemAlert.system_alert_id, ids))
}

/** Deletes alerts that ended long ago. `nowMs` is in epoch ms. */
export const deleteOldAlerts = (
  database: Database,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> =>
  deleteInBatches(
    database,
    systemAlert,
    lt(systemAlert.ended_at, new Date(nowMs - RETENTION_MS)),
    signal,
  )

/** Returns what was learned about the pictures of each source, by source id. */
export async function readReferences(tx: Transaction): Promise<Map<string, PictureReference>> {
  const rows = await tx.select().from(pictureReference)
  return new Map(rows.map(({ source_id, ...reference }) => [source_id, reference]))
}

/**
 * Stores what was learned about the pictures of each source. Forgets the sources that were deleted
 * meanwhile.
 */
export async function storeReferences(
  tx: Transaction,
  references: Map<string, PictureReference>,
): Promise<void> {
  // Locked, so that no source is deleted before its reference is stored.
  const existing = await tx
    .select({ source_id: source.source_id })
    .from(source)
    .where(isAnyOf(source.source_id, [...references.keys()]))
    .for('key share')
  const existingIds = new Set(existing.map(({ source_id }) => source_id))
  for (const [sourceId, { samples, sharpness, edges }] of references) {
    if (!existingIds.has(sourceId)) {
      references.delete(sourceId)
      continue
    }
    const values = { samples, sharpness, edges: [...edges] }
    await tx
      .insert(pictureReference)
      .values({ source_id: sourceId, ...values })
      .onConflictDoUpdate({ target: pictureReference.source_id, set: values })
  }
}

/** Deletes what was learned about the pictures of a source, so that it is learned anew. */
export const deleteReference = (tx: Transaction, sourceId: string): Promise<unknown> =>
  tx.delete(pictureReference).where(eq(pictureReference.source_id, sourceId))

/** Describes an alert for messages. */
export const toReport = (row: SystemAlertRow): SystemAlertReport => ({
  system_alert_id: row.system_alert_id,
  system_alert_kind: row.kind,
  system_alert_state: row.ended_at ? 'closed' : 'open',
  subject: row.subject_name,
  message: row.message,
  began_at: row.began_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
})

/**
 * Acknowledges an alert for a user, unless another user has acknowledged it before. Returns the
 * row, or undefined if the caller may not change the alert.
 */
export async function acknowledgeAlert(
  tx: Transaction,
  systemAlertId: string,
  userId: string,
  now: Date,
): Promise<SystemAlertRow | undefined> {
  const [row] = await tx
    .update(systemAlert)
    .set({
      acknowledged_at: sql`coalesce(${systemAlert.acknowledged_at}, ${toTimestamp(now)})`,
      acknowledged_by: sql`
        case
          when ${systemAlert.acknowledged_at} is null then ${userId}::uuid
          else ${systemAlert.acknowledged_by}
        end`,
    })
    .where(eq(systemAlert.system_alert_id, systemAlertId))
    .returning()
  return row
}
