import type { EscalationStep } from '@eyrie/contract/management/alert-policy'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { and, eq, sql } from 'drizzle-orm'
import { createRequest } from '../alerts/notification-text.ts'
import type { Transaction } from '../db/database.ts'
import { alertPolicy, incident, notification } from '../db/schema/index.ts'
import { type NewDelivery, storeDeliveries } from '../deliveries/outbox.ts'
import { isSnoozed } from '../incidents/active-snoozes.ts'
import type { IncidentRow } from '../incidents/running-incidents.ts'

const MAX_BATCH = 100

/**
 * Carries out the steps of escalations that are due at `now` (epoch ms). A step and the time of the next one are stored together
 * with the messages, so that no step is repeated. An incident that has ended unseen still escalates; a snooze delays it.
 */
export async function escalateIncidents(tx: Transaction, now: number): Promise<void> {
  const time = sql`${new Date(now).toISOString()}::timestamptz`
  const due = await tx.execute<{ incident_id: string }>(sql`
    select i.incident_id from incident i join channel c on c.channel_id = i.channel_id
    where i.escalates_at <= ${time} and not ${isSnoozed(time)}
    order by i.escalates_at limit ${MAX_BATCH} for update of i skip locked`)
  for (const { incident_id } of due) {
    const [row] = await tx.select().from(incident).where(eq(incident.incident_id, incident_id))
    await escalate(tx, row!, now)
  }
}

async function escalate(tx: Transaction, row: IncidentRow, now: number): Promise<void> {
  const { incident_id, alert_id, channel_id, escalation_step } = row
  const [policy] = alert_id
    ? await tx.select().from(alertPolicy).where(eq(alertPolicy.alert_id, alert_id))
    : []
  const step = policy?.escalation[escalation_step]
  const nextStep = policy?.escalation[escalation_step + 1]
  await tx
    .update(incident)
    .set({
      escalation_step: escalation_step + (step ? 1 : 0),
      escalates_at: nextStep ? new Date(now + nextStep.after_minutes * 60_000) : null,
    })
    .where(eq(incident.incident_id, incident_id))

  // The alert, its policy or its notifications may have been deleted meanwhile.
  const reported = await findReported(tx, row)
  if (!alert_id || !step || !reported) return
  const references = { alert_id, channel_id, incident_id, notification_uuid: reported.notification_uuid }
  await storeDeliveries(
    tx,
    step.actions.map(
      (action): NewDelivery => ({
        ...references,
        kind: 'escalation',
        request: markAsEscalation(createRequest(action, reported.details), step),
      }),
    ),
  )
}

/** Returns the notification with the best picture of an incident, and the data of its placeholders. */
async function findReported(tx: Transaction, { incident_id, best_notification }: IncidentRow) {
  const [row] = await tx
    .select()
    .from(notification)
    .where(
      and(eq(notification.incident_id, incident_id), eq(notification.notification_uuid, best_notification)),
    )
  if (!row) return undefined
  const details = JSON.parse(row.notification_extra) as FiringDetails
  return { notification_uuid: row.notification_uuid, details }
}

/** The message says why its receiver gets it. */
const markAsEscalation = (
  request: DeliveryRequest,
  { after_minutes }: Pick<EscalationStep, 'after_minutes'>,
): DeliveryRequest => ({
  ...request,
  subject: `Not acknowledged: ${request.subject}`,
  message: `Not acknowledged within ${after_minutes} min: ${request.message}`,
})
