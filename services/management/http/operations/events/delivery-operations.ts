import { EyrieError } from '@eyrie/contract'
import type { AlertAction } from '@eyrie/contract/management/alert'
import { type Delivery, deliveryRoutes } from '@eyrie/contract/management/delivery'
import { and, desc, eq } from 'drizzle-orm'
import { createPreview, type MessageSettings } from '../../../alerts/preview-message.ts'
import { createExample, replaceValues } from '../../../alerts/sample-values.ts'
import { createTestDelivery, findAlertDetails } from '../../../alerts/test-request.ts'
import type { Transaction } from '../../../db/database.ts'
import { delivery, unsubscribed } from '../../../db/schema/index.ts'
import { deliveryTemplates } from '../../../deliveries/delivery-templates.ts'
import { reviveDelivery, storeDeliveries } from '../../../deliveries/outbox.ts'
import { resubscribe } from '../../../deliveries/unsubscribed-addresses.ts'
import { fieldError, missingRecords } from '../../../errors/field-errors.ts'
import { defineOperation } from '../../api/operation.ts'
import { UnchangeableRecordError } from '../../api/policy-errors.ts'

const NO_SUCH_ACTION = 'the alert has no such action: the first one of alert_actions is 0'

type DeliveryRow = typeof delivery.$inferSelect

/**
 * API operations on deliveries, the messages that were sent or are to be sent: reading them with
 * their results, previews, sending a failed one again, and sending a test.
 */
export const deliveryOperations = (now: () => Date, settings: MessageSettings) => [
  defineOperation(deliveryRoutes.get, async ({ input }, tx) => ({
    value: toDelivery(await findDelivery(tx, input.delivery_id)),
  })),

  defineOperation(deliveryRoutes.list, async ({ input }, tx) => {
    const { channel_id, report_schedule_id, delivery_state } = input
    const rows = await tx
      .select()
      .from(delivery)
      .where(
        and(
          channel_id ? eq(delivery.channel_id, channel_id) : undefined,
          report_schedule_id ? eq(delivery.report_schedule_id, report_schedule_id) : undefined,
          delivery_state ? eq(delivery.state, delivery_state) : undefined,
        ),
      )
      .orderBy(desc(delivery.created_at), desc(delivery.delivery_id))
      .limit(input.delivery_limit)
      .offset(input.delivery_offset)
    return { value: rows.map(toDelivery) }
  }),

  defineOperation(deliveryRoutes.preview, async ({ input }, tx) => {
    const { alert_id, action_index = 0, values = {} } = input
    const stored = alert_id === undefined ? undefined : await findAlertDetails(tx, alert_id, now())
    const action = input.action ?? selectAction(stored?.actions, action_index)
    const details = replaceValues(stored?.details ?? createExample(now()), values)
    return { value: createPreview(action, details, settings, stored?.channel_id) }
  }),

  defineOperation(deliveryRoutes.templateList, async () => ({ value: [...deliveryTemplates] })),

  defineOperation(deliveryRoutes.unsubscribedList, async (_, tx) => ({
    value: await tx.select().from(unsubscribed).orderBy(unsubscribed.address),
  })),

  defineOperation(deliveryRoutes.unsubscribedDelete, async ({ input: { address } }, tx) => {
    if (!(await resubscribe(tx, address))) throw fieldError('address', 'has not unsubscribed')
  }),

  defineOperation(deliveryRoutes.retry, async ({ input }, tx) => {
    const { state } = await findDelivery(tx, input.delivery_id)
    if (state !== 'dead') {
      throw new EyrieError(
        'conflict',
        `this delivery is ${state}, and only dead deliveries can be sent again: read its state with /delivery/id`,
      )
    }
    const row = await reviveDelivery(tx, input.delivery_id)
    if (!row) throw new UnchangeableRecordError()
    return { value: toDelivery(row) }
  }),

  defineOperation(deliveryRoutes.test, async ({ input }, tx) => {
    const test = await createTestDelivery(tx, input.alert_id, input.action_index, now())
    if (!test) throw fieldError('action_index', NO_SUCH_ACTION)
    const [deliveryId] = await storeDeliveries(tx, [test])
    // One id is returned for each stored delivery.
    return { createdId: deliveryId! }
  }),
]

/** Throws `EyrieError` (`syntax`) if there is no such action, or no alert to take it from. */
function selectAction(actions: readonly AlertAction[] | undefined, index: number): AlertAction {
  if (!actions) {
    throw fieldError('action', 'is missing: send an action, or the alert_id of an alert')
  }
  const action = actions[index]
  if (!action) throw fieldError('action_index', NO_SUCH_ACTION)
  return action
}

async function findDelivery(tx: Transaction, deliveryId: string): Promise<DeliveryRow> {
  const [row] = await tx.select().from(delivery).where(eq(delivery.delivery_id, deliveryId))
  if (!row) throw missingRecords([{ field: 'delivery_id', record: 'delivery' }])
  return row
}

/**
 * Narrows the types of the columns. The casts are safe, because constraints of the database
 * admit only valid values.
 */
const toDelivery = (row: DeliveryRow) => ({
  ...row,
  delivery_type: row.type as Delivery['delivery_type'],
  delivery_kind: row.kind as Delivery['delivery_kind'],
  delivery_to: row.recipient,
  delivery_state: row.state as Delivery['delivery_state'],
  delivery_attempts: row.attempts,
  delivery_reason: row.reason,
  is_test: row.kind === 'test',
})
