import type { AlertAction, AlertCondition } from '@eyrie/contract/management/alert'
import type { DeliveryRequest, FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert, channel, usecase } from '../db/schema/index.ts'
import type { NewDelivery } from '../deliveries/outbox.ts'
import { createRequest } from './notification-text.ts'

/**
 * Creates the delivery of a test message: what an action of the alert would send if the statistic
 * had just reached the threshold. Returns undefined if the alert has no such action.
 */
export async function createTestDelivery(
  tx: Transaction,
  alertId: string,
  actionIndex: number,
  now: Date,
): Promise<NewDelivery | undefined> {
  const firing = await findAlertDetails(tx, alertId, now)
  const action = firing?.actions[actionIndex]
  if (!firing || !action) return undefined
  const request = createRequest(action, firing.details)
  return {
    kind: 'test',
    alert_id: alertId,
    channel_id: firing.channel_id,
    request: markAsTest(request),
  }
}

/**
 * Returns the actions of an alert, and the data of a firing in which the statistic has just reached
 * the threshold. Returns undefined if the alert does not exist.
 */
export async function findAlertDetails(tx: Transaction, alertId: string, now: Date) {
  const [row] = await tx
    .select()
    .from(alert)
    .innerJoin(channel, eq(channel.channel_id, alert.channel_id))
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(eq(alert.alert_id, alertId))
  if (!row) return undefined
  const details: FiringDetails = {
    alert_name: row.alert.alert_name,
    alert_priority: row.alert.alert_priority,
    alert_threshold: row.alert.alert_threshold,
    alert_threshold_condition: row.alert.alert_threshold_condition as AlertCondition,
    alert_threshold_key: row.alert.alert_threshold_key,
    channel_name: row.channel.channel_name,
    usecase_key: row.usecase.usecase_key,
    value: Number(row.alert.alert_threshold),
    time: now.toISOString(),
  }
  return {
    channel_id: row.channel.channel_id,
    actions: row.alert.alert_actions as AlertAction[],
    details,
  }
}

/** Marks a message as a test in its texts, and removes the delay of its action. */
const markAsTest = (request: DeliveryRequest): DeliveryRequest => ({
  ...request,
  subject: `Test: ${request.subject}`,
  message: `Test: ${request.message}`,
  action: { ...request.action, action_process_delay: 0 },
})
