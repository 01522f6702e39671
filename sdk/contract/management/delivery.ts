import { z } from 'zod'
import { actionType } from './alert.ts'
import { route } from './management-route.ts'
import { integer, pagination, recordId, reference, timestamp } from './record-fields.ts'

/**
 * Deliveries in the management API. A delivery sends one notification by one action of its alert, for example as an e-mail.
 */

export const deliveryState = z.enum(['queued', 'sent', 'delivered', 'failed', 'dead']).meta({
  description:
    'queued: not sent yet; sent: accepted by a server that passes it on; delivered: accepted by the receiver; failed: the last attempt failed, another one follows; dead: given up',
})
export type DeliveryState = z.infer<typeof deliveryState>

export const delivery = z
  .object({
    delivery_id: recordId.meta({
      description: 'The same for all attempts. Receivers recognize repeated messages by it',
    }),
    delivery_type: actionType,
    delivery_to: z
      .string()
      .meta({ description: 'Receivers of a message, or the server of a webhook without its path' }),
    delivery_state: deliveryState,
    delivery_attempts: z.int(),
    delivery_reason: z
      .string()
      .meta({ description: 'What the receiver answered to the last attempt, or why it failed' }),
    is_test: z.boolean(),
    alert_id: recordId.nullable().meta({ description: 'Null if the alert was deleted' }),
    channel_id: recordId,
    notification_uuid: recordId.nullable().meta({ description: 'Null for a test' }),
    created_at: timestamp,
    next_attempt_at: timestamp.nullable().meta({ description: 'Null if no attempt follows' }),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.infer<typeof delivery>

const byId = z.strictObject({ delivery_id: reference('delivery') })

export const deliveryRoutes = {
  id: route({
    method: 'get',
    path: '/delivery/id',
    summary: 'Get a delivery',
    access: 'view',
    query: byId,
    status: 200,
    response: delivery,
  }),

  list: route({
    method: 'get',
    path: '/delivery/list',
    summary: 'List the deliveries of a channel',
    description: 'Newest first.',
    access: 'view',
    query: z.strictObject({
      channel_id: reference('channel'),
      delivery_state: deliveryState.optional(),
      ...pagination('delivery'),
    }),
    status: 200,
    response: z.array(delivery),
  }),

  retry: route({
    method: 'post',
    path: '/delivery/retry',
    summary: 'Send a dead delivery again',
    description: 'With the same id, so that a receiver that already has the message ignores it.',
    access: 'manage',
    body: byId,
    status: 200,
    response: delivery,
  }),

  test: route({
    method: 'post',
    path: '/delivery/test',
    summary: 'Send a test message by an action of an alert',
    description: 'The delivery at `Location` shows the result.',
    access: 'manage',
    body: z.strictObject({
      alert_id: reference('alert'),
      action_index: integer.min(0).meta({ description: 'Position in alert_actions, from 0' }),
    }),
    status: 201,
    response: null,
    readBack: { path: '/delivery/id', by: 'delivery_id' },
  }),
}
