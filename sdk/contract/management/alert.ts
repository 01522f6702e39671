import { z } from 'zod'
import { route } from './management-route.ts'
import { integer, name, recordId, reference, SECONDS_PER_DAY, text } from './record-fields.ts'
import { statisticKey } from './statistic.ts'

/**
 * Alerts in the management API. An alert is a condition on a statistic of a channel, such as
 * `occupancy` greater than 5. An alert that fires runs its actions, which notify people.
 */

export const alertPriority = z.enum(['low', 'medium', 'high', 'critical'])

/** How the statistic is compared with the threshold. */
export const alertCondition = z.enum(['gt', 'gte', 'lt', 'lte', 'eq', 'ne']).meta({
  description: 'gt: >; gte: ≥; lt: <; lte: ≤; eq: =; ne: ≠',
})
export type AlertCondition = z.infer<typeof alertCondition>

/**
 * A decimal number as in JSON, except that a plus sign and a missing integer part are also valid.
 */
const DECIMAL_NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/

const threshold = text.refine(
  value => DECIMAL_NUMBER.test(value) && Number.isFinite(Number(value)),
  {
    error: 'must be a number such as 5 or 0.5',
  },
)

/** How a message is delivered. */
export const actionType = z.enum(['email', 'sms', 'webhook', 'mqtt', 'push'])
export type ActionType = z.infer<typeof actionType>

const actionFields = {
  action_access_id: text
    .optional()
    .meta({ description: 'User name for a webhook or an MQTT broker' }),
  action_access_token: text.optional().meta({
    description:
      'Password of action_access_id. If action_access_id is empty, it is sent as a bearer token. A value that begins with whsec_ is never sent: it is the secret that signs the webhook',
  }),
  action_auth_header: text.optional().meta({
    description:
      'Value of the Authorization header of a webhook, or another header as `Name: value`',
  }),
  action_external_link: text.optional().meta({ description: 'Address that messages link to' }),
  action_header: text
    .optional()
    .meta({ description: 'Headers of a webhook, one per line as `Name: value`' }),
  action_is_auto_payload: z.boolean().optional().meta({
    description: 'Whether a webhook sends the standard payload although action_payload is set',
  }),
  action_is_secure: z
    .boolean()
    .optional()
    .meta({ description: 'Whether an action_url without a scheme means https. Default: true' }),
  action_markup: z.enum(['html', 'markdown', 'slack']).optional().meta({
    description:
      'Markup that the receiver of action_payload interprets, so that names in it are escaped. Default: none',
  }),
  action_message: text
    .optional()
    .meta({ description: 'Text of the message. Default: a sentence about the alert' }),
  action_method: text.optional().meta({ description: 'HTTP method of a webhook. Default: POST' }),
  action_payload: text.optional().meta({
    description:
      'Body of a webhook or an MQTT message. Default: the standard payload, a CloudEvent',
  }),
  action_picture: z.enum(['none', 'link', 'inline']).optional().meta({
    description:
      'How the standard payload of a webhook contains the picture: not at all, as an address, or as base64. Default: link',
  }),
  action_process_delay: integer
    .min(0)
    .optional()
    .meta({ description: 'Seconds to wait before the message is sent. Default: 0' }),
  action_query: text
    .optional()
    .meta({ description: 'Query that is added to the address of a webhook' }),
  action_subject: text
    .optional()
    .meta({ description: 'Subject of the message. Default: alert and channel' }),
  action_to: text.optional().meta({
    description:
      'Receivers, separated by commas. Default: those of the settings; for push, every user with access to the channel',
  }),
  action_type: actionType.optional().meta({
    description: 'Default: webhook or mqtt if action_url has a matching scheme, otherwise email',
  }),
  action_url: text
    .optional()
    .meta({ description: 'Address of a webhook, or of an MQTT topic: mqtts://host/topic' }),
}

/** How to notify people if the alert fires. Additional fields are stored unchanged. */
export const alertAction = z.looseObject(actionFields).meta({ id: 'AlertAction' })
export type AlertAction = z.infer<typeof alertAction>

/** An alert in a request. */
const alertInput = z.strictObject({
  alert_name: name,
  alert_priority: alertPriority,
  alert_threshold: threshold.meta({
    description: 'The number with which the statistic is compared',
  }),
  alert_threshold_condition: alertCondition,
  alert_threshold_key: statisticKey.meta({ description: 'Key of the statistic' }),
  alert_frequency: z
    .int()
    .min(0)
    .max(SECONDS_PER_DAY)
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
  listActive: route({
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

  get: route({
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
