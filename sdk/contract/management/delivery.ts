import { z } from 'zod'
import { actionType, alertAction, alertCondition } from './alert.ts'
import { deliveryKind } from './delivery-queue.ts'
import { route } from './management-route.ts'
import { integer, pagination, recordId, reference, text, timestamp } from './record-fields.ts'

/**
 * Deliveries in the management API. A delivery sends one notification by one action of its alert,
 * for example as an e-mail.
 */

export const deliveryState = z
  .enum(['queued', 'sent', 'delivered', 'failed', 'dead', 'suppressed'])
  .meta({
    description:
      'queued: not sent yet; sent: accepted by a server that passes it on; delivered: accepted by the receiver; failed: the last attempt failed, another one follows; dead: given up; suppressed: not sent on purpose',
  })
export type DeliveryState = z.infer<typeof deliveryState>

export const delivery = z
  .object({
    delivery_id: recordId.meta({
      description: 'The same for all attempts. Receivers recognize repeated messages by it',
    }),
    delivery_type: actionType,
    delivery_kind: deliveryKind,
    delivery_to: z
      .string()
      .meta({ description: 'Receivers of a message, or the server of a webhook without its path' }),
    delivery_state: deliveryState,
    delivery_attempts: z.int(),
    delivery_reason: z.string().meta({
      description:
        'What the receiver answered to the last attempt, why it failed, or why the message was suppressed',
    }),
    is_test: z.boolean(),
    alert_id: recordId.nullable().meta({ description: 'Null if the alert was deleted' }),
    channel_id: recordId
      .nullable()
      .meta({ description: 'Null if the message is about a system alert, or a report' }),
    system_alert_id: recordId
      .nullable()
      .meta({ description: 'The first system alert of the message; null if it is about an alert' }),
    report_schedule_id: recordId
      .nullable()
      .meta({ description: 'The scheduled report; null for other messages' }),
    notification_uuid: recordId
      .nullable()
      .meta({ description: 'Null for a digest, for a test and for a system alert' }),
    incident_id: recordId
      .nullable()
      .meta({ description: 'Null for a digest, for a test and for a system alert' }),
    created_at: timestamp,
    next_attempt_at: timestamp.nullable().meta({ description: 'Null if no attempt follows' }),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.infer<typeof delivery>

/**
 * Values for the placeholders of a preview. Those of the alert, or examples, replace missing ones.
 */
const sampleValues = z.strictObject({
  alert_name: text.optional(),
  alert_priority: text.optional(),
  channel_name: text.optional(),
  usecase_key: text.optional(),
  key: text.optional(),
  condition: alertCondition.optional(),
  threshold: text.optional(),
  value: z.number().optional(),
  time: text.optional(),
})
export type SampleValues = z.infer<typeof sampleValues>

export const deliveryPreview = z
  .object({
    delivery_type: actionType,
    delivery_to: z.string().meta({ description: 'As in the delivery' }),
    subject: z.string(),
    message: z.string(),
    problem: z
      .string()
      .nullable()
      .meta({ description: 'Why the message cannot be sent as the action is configured' }),
    method: z.string().nullable().meta({ description: 'HTTP method of a webhook' }),
    headers: z.record(z.string(), z.string()).nullable().meta({
      description: 'Headers of a webhook. Values that may be secrets are replaced by ***',
    }),
    topic: z.string().nullable().meta({ description: 'Topic of an MQTT message' }),
    body: z
      .string()
      .nullable()
      .meta({ description: 'What a webhook, a broker or an SMS contains' }),
    body_bytes: z.int().nullable(),
    sms: z
      .object({
        encoding: z.enum(['GSM-7', 'UCS-2']),
        segments: z.int(),
        is_shortened: z.boolean(),
      })
      .nullable()
      .meta({ description: 'Number of messages that are charged for an SMS' }),
    unknown_placeholders: z.array(z.object({ field: z.string(), placeholder: z.string() })),
  })
  .meta({ id: 'DeliveryPreview' })
export type DeliveryPreview = z.infer<typeof deliveryPreview>

/** An action for a service, in which `[[field]]` stands for what a user fills in. */
export const deliveryTemplate = z
  .object({
    template_key: z.string(),
    template_name: z.string(),
    template_description: z.string(),
    template_fields: z.array(
      z.object({
        field: z.string().meta({ description: 'Name in double brackets in the action' }),
        title: z.string(),
        description: z.string().meta({ description: 'Where to find the value' }),
        example: z.string(),
        default: z.string().optional(),
        pattern: z
          .string()
          .meta({ description: 'Regular expression that the whole value matches' }),
        is_secret: z.boolean(),
      }),
    ),
    template_action: alertAction,
  })
  .meta({ id: 'DeliveryTemplate' })
export type DeliveryTemplate = z.infer<typeof deliveryTemplate>

const unsubscribedAddress = z
  .object({ address: z.string(), unsubscribed_at: timestamp })
  .meta({ id: 'UnsubscribedAddress' })

const byId = z.strictObject({ delivery_id: reference('delivery') })

export const deliveryRoutes = {
  get: route({
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
    summary: 'List the deliveries of a channel or of a scheduled report',
    description: 'Newest first.',
    access: 'view',
    query: z
      .strictObject({
        channel_id: reference('channel').optional(),
        report_schedule_id: reference('report_schedule').optional(),
        delivery_state: deliveryState.optional(),
        ...pagination('delivery'),
      })
      .refine(
        query => (query.channel_id === undefined) !== (query.report_schedule_id === undefined),
        {
          error: 'send either channel_id or report_schedule_id',
          path: ['channel_id'],
        },
      ),
    status: 200,
    response: z.array(delivery),
  }),

  preview: route({
    method: 'post',
    path: '/delivery/preview',
    readOnly: true,
    summary: 'Show what an action would send',
    description:
      'Of an alert that exists, or of an action in the request. Nothing is sent, and secrets are not returned.',
    access: 'manage',
    body: z.strictObject({
      alert_id: reference('alert').optional(),
      action_index: integer
        .min(0)
        .optional()
        .meta({ description: 'Position in alert_actions, from 0. Default: 0' }),
      action: alertAction.optional().meta({ description: 'Replaces the action of the alert' }),
      values: sampleValues.optional(),
    }),
    status: 200,
    response: deliveryPreview,
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

  templateList: route({
    method: 'get',
    path: '/delivery/template/list',
    summary: 'List the templates for chat services',
    description:
      'Replace [[field]] in the action by the values of the fields, and add the action to an alert.',
    access: 'view',
    status: 200,
    response: z.array(deliveryTemplate),
  }),

  unsubscribedList: route({
    method: 'get',
    path: '/delivery/unsubscribed/list',
    summary: 'List the addresses that have unsubscribed from digests',
    access: 'own',
    status: 200,
    response: z.array(unsubscribedAddress),
  }),

  unsubscribedDelete: route({
    method: 'post',
    path: '/delivery/unsubscribed/delete',
    summary: 'Send digests to an address again that has unsubscribed',
    access: 'own',
    body: z.strictObject({ address: text }),
    status: 200,
    response: null,
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
