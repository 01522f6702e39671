import type { EscalationStep } from '@eyrie/contract/management/alert-policy'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { and, eq, sql } from 'drizzle-orm'
import { createRequest } from '../alerts/notification-text.ts'
import type { Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { alertPolicy, incident, notification } from '../db/schema/index.ts'
import { type NewDelivery, storeDeliveries } from '../deliveries/outbox.ts'
import { snoozedCondition } from '../incidents/active-snoozes.ts'
import type { IncidentRow } from '../incidents/running-incidents.ts'

/** Maximum number of incidents of one run. The others follow in the next run, seconds later. */
const MAX_BATCH = 100
const MINUTE_MS = 60_000

/**
 * Escalates the incidents whose next step is due at `now` (epoch ms). The messages of a step and
 * the time of the next step are stored in one transaction, so that no step is repeated. An incident
 * that has ended unacknowledged still escalates; a snooze delays it.
 */
export async function escalateIncidents(tx: Transaction, now: number): Promise<void> {
  const time = sql`${new Date(now).toISOString()}::timestamptz`
  const due = await tx.execute<{ incident_id: string }>(sql`
    select i.incident_id from incident i join channel c on c.channel_id = i.channel_id
    where i.escalates_at <= ${time} and not ${snoozedCondition(time)}
    order by i.escalates_at limit ${MAX_BATCH} for update of i skip locked`)
  for (const { incident_id: incidentId } of due) {
    const rows = await tx.select().from(incident).where(eq(incident.incident_id, incidentId))
    await escalate(tx, firstRow(rows), now)
  }
}

/**
 * Carries out the next step of an incident: stores its messages, and when the step after it is due.
 */
async function escalate(tx: Transaction, row: IncidentRow, now: number): Promise<void> {
  const {
    incident_id: incidentId,
    alert_id: alertId,
    channel_id: channelId,
    escalation_step: escalationStep,
  } = row
  const steps = alertId === null ? [] : await readSteps(tx, alertId)
  const step = steps[escalationStep]
  const nextStep = steps[escalationStep + 1]
  await tx
    .update(incident)
    .set({
      escalation_step: step ? escalationStep + 1 : escalationStep,
      escalates_at: nextStep ? new Date(now + nextStep.after_minutes * MINUTE_MS) : null,
    })
    .where(eq(incident.incident_id, incidentId))

  const reported = await findReportedNotification(tx, row)
  // The alert, its policy or its notifications may have been deleted in the meantime.
  if (!alertId || !step || !reported) return
  const { notification_uuid, details } = reported
  const deliveries = step.actions.map((action): NewDelivery => {
    const request = markAsEscalation(createRequest(action, details), step)
    return {
      kind: 'escalation',
      alert_id: alertId,
      channel_id: channelId,
      incident_id: incidentId,
      notification_uuid,
      request,
    }
  })
  await storeDeliveries(tx, deliveries)
}

async function readSteps(tx: Transaction, alertId: string): Promise<readonly EscalationStep[]> {
  const [policy] = await tx.select().from(alertPolicy).where(eq(alertPolicy.alert_id, alertId))
  return policy?.escalation ?? []
}

/**
 * Returns the notification with the best picture of an incident, and the data for the
 * placeholders of messages.
 */
async function findReportedNotification(
  tx: Transaction,
  { incident_id: incidentId, best_notification: bestNotification }: IncidentRow,
) {
  const [row] = await tx
    .select()
    .from(notification)
    .where(
      and(
        eq(notification.incident_id, incidentId),
        eq(notification.notification_uuid, bestNotification),
      ),
    )
  if (!row) return undefined
  // Notifications are stored with these details as JSON.
  const details = JSON.parse(row.notification_extra) as FiringDetails
  return { notification_uuid: row.notification_uuid, details }
}

/** Adds the reason of the escalation to the texts of a message. */
const markAsEscalation = (
  request: DeliveryRequest,
  { after_minutes: afterMinutes }: Pick<EscalationStep, 'after_minutes'>,
): DeliveryRequest => ({
  ...request,
  subject: `Not acknowledged: ${request.subject}`,
  message: `Not acknowledged within ${afterMinutes} min: ${request.message}`,
})
