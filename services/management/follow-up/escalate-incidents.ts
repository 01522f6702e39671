import type { EscalationStep } from '@eyrie/contract/management/alert-policy'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { and, eq, sql } from 'drizzle-orm'
import { createRequest } from '../alerts/notification-text.ts'
import type { Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { alertPolicy, incident, notification } from '../db/schema/index.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { type NewDelivery, storeDeliveries } from '../deliveries/outbox.ts'
import { snoozedCondition } from '../incidents/active-snoozes.ts'
import type { IncidentRow } from '../incidents/running-incidents.ts'

/** Maximum number of incidents in one run. The others follow in the next run, seconds later. */
const MAX_BATCH = 100
const MINUTE_MS = 60_000

/**
 * Escalates the incidents whose next step is due at `now` (epoch ms). An incident escalates until a
 * person acknowledges it, even if it has ended. A snooze delays its escalation.
 *
 * The messages of a step and the time of the next step are stored in one transaction, so that no
 * step is repeated.
 */
export async function escalateIncidents(tx: Transaction, now: number): Promise<void> {
  const time = toTimestamp(now)
  const due = await tx.execute<{ incident_id: string }>(sql`
    select incident.incident_id
    from incident
    join channel on channel.channel_id = incident.channel_id
    where incident.escalates_at <= ${time}
      and not ${snoozedCondition(time)}
    order by incident.escalates_at
    limit ${MAX_BATCH}
    for update of incident skip locked`)
  for (const { incident_id } of due) {
    const rows = await tx.select().from(incident).where(eq(incident.incident_id, incident_id))
    await escalate(tx, firstRow(rows), now)
  }
}

/**
 * Carries out the next step of an incident: stores its messages, and when the step after it is due.
 */
async function escalate(tx: Transaction, row: IncidentRow, now: number): Promise<void> {
  const { incident_id, alert_id, channel_id, escalation_step: stepIndex } = row
  const steps = alert_id === null ? [] : await readSteps(tx, alert_id)
  const step = steps[stepIndex]
  const nextStep = steps[stepIndex + 1]
  await tx
    .update(incident)
    .set({
      escalation_step: step ? stepIndex + 1 : stepIndex,
      escalates_at: nextStep ? new Date(now + nextStep.after_minutes * MINUTE_MS) : null,
    })
    .where(eq(incident.incident_id, incident_id))

  const reported = await findReportedNotification(tx, row)
  // The alert, its policy or its notifications may have been deleted in the meantime.
  if (!alert_id || !step || !reported) return

  const { notification_uuid, details } = reported
  // Each step counts from the previous one.
  const minutes = steps
    .slice(0, stepIndex + 1)
    .reduce((sum, { after_minutes: afterMinutes }) => sum + afterMinutes, 0)
  const deliveries = step.actions.map(
    (action): NewDelivery => ({
      kind: 'escalation',
      alert_id,
      channel_id,
      incident_id,
      notification_uuid,
      request: markAsEscalation(createRequest(action, details), minutes),
    }),
  )
  await storeDeliveries(tx, deliveries)
}

async function readSteps(tx: Transaction, alertId: string): Promise<readonly EscalationStep[]> {
  const [policy] = await tx.select().from(alertPolicy).where(eq(alertPolicy.alert_id, alertId))
  return policy?.escalation ?? []
}

/**
 * Returns the notification with the best picture of an incident, and the data for the
 * placeholders of messages. Returns undefined if the notification was deleted.
 */
async function findReportedNotification(
  tx: Transaction,
  { incident_id, best_notification: bestNotification }: IncidentRow,
) {
  const [row] = await tx
    .select()
    .from(notification)
    .where(
      and(
        eq(notification.incident_id, incident_id),
        eq(notification.notification_uuid, bestNotification),
      ),
    )
  if (!row) return undefined
  // Notifications are stored with these details as JSON.
  const details = JSON.parse(row.notification_extra) as FiringDetails
  return { notification_uuid: row.notification_uuid, details }
}

/**
 * Adds the reason of the escalation to the texts of a message: the minutes since the first message
 * about the incident.
 */
const markAsEscalation = (request: DeliveryRequest, minutes: number): DeliveryRequest => ({
  ...request,
  subject: `Not acknowledged: ${request.subject}`,
  message: `Not acknowledged within ${minutes} min: ${request.message}`,
})
