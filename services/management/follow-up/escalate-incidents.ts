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
  const steps = await readSteps(tx, row.alert_id)
  const stepsDone = row.escalation_step
  const step = steps[stepsDone]
  if (!step) {
    // The policy has fewer steps than when this step was scheduled, or was deleted.
    await updateEscalation(tx, row, { escalates_at: null })
    return
  }

  // The wait of each step begins when the previous step is carried out.
  const waits = steps.slice(0, stepsDone + 1).map(({ after_minutes }) => after_minutes)
  const minutes = waits.reduce((sum, wait) => sum + wait, 0)
  await storeDeliveries(tx, await createDeliveries(tx, row, step, minutes))

  const nextStep = steps[stepsDone + 1]
  await updateEscalation(tx, row, {
    escalation_step: stepsDone + 1,
    escalates_at: nextStep ? new Date(now + nextStep.after_minutes * MINUTE_MS) : null,
  })
}

/** Returns the steps in the policy of an alert. An alert that was deleted has none. */
async function readSteps(
  tx: Transaction,
  alertId: string | null,
): Promise<readonly EscalationStep[]> {
  if (alertId === null) return []
  const [policy] = await tx.select().from(alertPolicy).where(eq(alertPolicy.alert_id, alertId))
  return policy?.escalation ?? []
}

async function updateEscalation(
  tx: Transaction,
  { incident_id }: IncidentRow,
  fields: Partial<Pick<IncidentRow, 'escalation_step' | 'escalates_at'>>,
): Promise<void> {
  await tx.update(incident).set(fields).where(eq(incident.incident_id, incident_id))
}

/**
 * Creates the messages of a step, `minutes` after the first message about the incident. Returns
 * none if the notification that they describe was deleted.
 */
async function createDeliveries(
  tx: Transaction,
  row: IncidentRow,
  step: EscalationStep,
  minutes: number,
): Promise<NewDelivery[]> {
  const described = await findBestNotification(tx, row)
  if (!described) return []
  const { notification_uuid, details } = described
  return step.actions.map(action => ({
    kind: 'escalation',
    alert_id: row.alert_id,
    channel_id: row.channel_id,
    incident_id: row.incident_id,
    notification_uuid,
    request: markAsEscalation(createRequest(action, details), minutes),
  }))
}

/**
 * Returns the notification with the best picture of an incident, and the data for the
 * placeholders of messages. Returns undefined if the notification was deleted.
 */
async function findBestNotification(
  tx: Transaction,
  { incident_id, best_notification }: IncidentRow,
): Promise<{ notification_uuid: string; details: FiringDetails } | undefined> {
  const [row] = await tx
    .select()
    .from(notification)
    .where(
      and(
        eq(notification.incident_id, incident_id),
        eq(notification.notification_uuid, best_notification),
      ),
    )
  if (!row) return undefined
  // Notifications are stored with these details as JSON.
  const details = JSON.parse(row.notification_extra) as FiringDetails
  return { notification_uuid: row.notification_uuid, details }
}

/** Adds to the texts of a message that the incident was not acknowledged within these minutes. */
const markAsEscalation = (request: DeliveryRequest, minutes: number): DeliveryRequest => ({
  ...request,
  subject: `Not acknowledged: ${request.subject}`,
  message: `Not acknowledged within ${minutes} min: ${request.message}`,
})
