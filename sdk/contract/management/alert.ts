import { z } from 'zod'
import { route } from './management-route.ts'
import { integer, name, recordId, reference, text } from './record-fields.ts'
import { statisticKey } from './statistic.ts'

/**
 * Alerts in the management API. An alert is a condition on a statistic of a channel, such as `occupancy` greater than 5. An
 * alert that fires runs its actions, which notify people.
 */

export const alertPriority = z.enum(['low', 'medium', 'high', 'critical'])

/** How the statistic is compared with the threshold, such as `gt` for greater than. */
export const alertCondition = z.enum(['gt', 'gte', 'lt', 'lte', 'eq', 'ne'])
export type AlertCondition = z.infer<typeof alertCondition>

/** A decimal number as in JSON, except that a plus sign and a missing integer part are also valid. */
const DECIMAL_NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/

const threshold = text.refine(value => DECIMAL_NUMBER.test(value) && Number.isFinite(Number(value)), {
  error: 'must be a number such as 5 or 0.5',
})

const actionFields = {
  action_access_id: text.optional(),
  action_access_token: text.optional(),
  action_auth_header: text.optional(),
  action_external_link: text.optional(),
  action_header: text.optional(),
  action_is_auto_payload: z.boolean().optional(),
  action_is_secure: z.boolean().optional(),
  action_message: text.optional(),
  action_method: text.optional(),
  action_payload: text.optional(),
  action_process_delay: integer.min(0).optional(),
  action_query: text.optional(),
  action_subject: text.optional(),
  action_to: text.optional(),
  action_type: z
    .enum(['email', 'sms', 'webhook', 'mqtt'])
    .optional()
    .meta({ description: 'Default: webhook or mqtt if action_url has a matching scheme, otherwise email' }),
  action_url: text.optional(),
}

/** How to notify people if the alert fires. Additional fields are stored unchanged. */
export const alertAction = z.looseObject(actionFields).meta({ id: 'AlertAction' })
export type AlertAction = z.infer<typeof alertAction>

/** An alert in a request. */
const alertInput = z.strictObject({
  alert_name: name,
  alert_priority: alertPriority,
  alert_threshold: threshold,
  alert_threshold_condition: alertCondition,
  alert_threshold_key: statisticKey,
  alert_frequency: z
    .int()
    .min(0)
    .max(86_400)
    .meta({ description: 'Minimum number of seconds between two notifications; 0: no minimum' }),
  alert_actions: z.array(alertAction).max(32),
  channel_id: reference('channel'),
})

/** An alert in a response. */
export const alert = z
  .object({ ...alertInput.shape, alert_id: recordId, channel_id: recordId, is_active: z.boolean() })
  .meta({ id: 'Alert' })
export type Alert = z.infer<typeof alert>

const byId = z.strictObject({ alert_id: reference('alert') })
const byChannel = z.strictObject({ channel_id: reference('channel') })

/** Every operation is a POST request, even if it only reads. */
const post = { method: 'post', status: 200 } as const

export const alertRoutes = {
  active: route({
    ...post,
    path: '/alert/active',
    readOnly: true,
    summary: 'List the active alerts of a channel',
    access: 'view',
    body: byChannel,
    response: z.array(alert),
  }),

  create: route({
    method: 'post',
    path: '/alert/create',
    summary: 'Create an alert',
    access: 'manage',
    body: alertInput,
    ignoredFields: ['alert_id', 'is_active'],
    status: 201,
    response: null,
    readBack: { path: '/alert/id', by: 'alert_id' },
  }),

  delete: route({
    ...post,
    path: '/alert/delete',
    summary: 'Delete an alert',
    access: 'manage',
    body: byId,
    response: null,
  }),

  disable: route({
    ...post,
    path: '/alert/disable',
    summary: 'Disable an alert',
    access: 'manage',
    body: byId.extend(byChannel.shape),
    response: alert,
  }),

  enable: route({
    ...post,
    path: '/alert/enable',
    summary: 'Enable an alert',
    access: 'manage',
    body: byId.extend(byChannel.shape),
    response: alert,
  }),

  id: route({
    ...post,
    path: '/alert/id',
    readOnly: true,
    summary: 'Get an alert',
    access: 'view',
    body: byId,
    response: alert,
  }),

  list: route({
    ...post,
    path: '/alert/list',
    readOnly: true,
    summary: 'List the alerts of a channel',
    access: 'view',
    body: byChannel,
    response: z.array(alert),
  }),

  update: route({
    ...post,
    path: '/alert/update',
    summary: 'Update an alert',
    access: 'manage',
    body: alertInput.extend(byId.shape),
    ignoredFields: ['is_active'],
    response: alert,
  }),
}
