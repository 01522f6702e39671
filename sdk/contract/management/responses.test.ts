import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ManagementRoute } from './management-route.ts'
import { managementRoutes } from './management-routes.ts'

type Fields = Partial<
  Record<'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object', string>
>

const alert: Fields = {
  string:
    'alert_id alert_name alert_priority alert_threshold alert_threshold_condition alert_threshold_key channel_id',
  integer: 'alert_frequency',
  array: 'alert_actions',
  boolean: 'is_active',
}
const gallery: Fields = { string: 'channel_id usecase_key', array: 'gallery' }
const counts =
  'alert down dwell_time fire frame_collision frame_near_miss high_smoke intermediate_smoke low_smoke moving_average moving_average_count non_violation occupancy total total_collision total_near_miss up violation'
const channelStats: Fields = {
  string: 'channel_id channel_key channel_name usecase_key',
  integer: 'channel_total_alert channel_total_notification',
  array: 'channel_alert',
  object: 'channel_stats',
}
const usecaseStats: Fields = {
  string: 'usecase_key',
  integer: 'usecase_total_alert usecase_total_notification',
  array: 'usecase_channel',
  object: 'usecase_total_stats',
}
const assigned = 'channel_ids customer_ids site_ids usecase_ids'
const user: Fields = {
  string: 'user_id email first_name last_name user_name avatar role_id role_key last_logged_in_at',
  boolean: 'is_active is_verified',
  array: assigned,
  object: 'ui_config',
}
const customer: Fields = {
  string:
    'customer_id customer_key customer_name customer_description customer_icon customer_type organization_id',
  array: 'customer_contact customer_sites',
  object: 'customer_address',
}

/** Specified response fields by operation. For a list, the fields of its items. */
const specified: Record<string, Fields> = {
  'acl.list': { string: 'module_key module_name module_path', array: 'components' },
  'alert.listActive': alert,
  'alert.disable': alert,
  'alert.enable': alert,
  'alert.get': alert,
  'alert.list': alert,
  'alert.update': alert,
  'notification.gallery': gallery,
  'notification.galleryImage': gallery,
  'notification.range': { string: 'channel_id usecase_key start end', array: 'notifications' },
  'notification.get': {
    string: 'notification_uuid channel_id usecase_key notification_time notification_extra',
    object: 'notification_data',
  },
  'event.range': {
    string: 'usecase_key channel_id start end agg_frequency',
    integer: 'event_limit event_offset',
    array: 'events',
  },
  'event.range events': {
    number: counts,
    integer: 'id',
    array: 'ids',
    string: 'metadata threshold time',
  },
  'event.channelStats': channelStats,
  'event.channelStats channel_alert': {
    string: 'channel condition key name time',
    integer: 'count',
  },
  'event.channelStats channel_stats': { number: counts, array: 'ids' },
  'event.usecaseReport': channelStats,
  'event.usecaseStats': usecaseStats,
  'event.usecaseStats usecase_channel': channelStats,
  'event.usecaseStats usecase_total_stats': { number: counts, array: 'ids' },
  'event.usecaseStatsByQuery': usecaseStats,
  'event.usecaseStatsByQuery usecase_total_stats': {
    number:
      'dwelltime framecollision framenearmiss highsmoke intermediatesmoke lowsmoke movingaveragecount nonviolation totalcollision totalnearmiss down fire occupancy total up violation',
  },
  'user.auth': {
    string: 'access_token token_type refresh_token',
    integer: 'expires_in',
    object: 'user',
  },
  'user.auth user': user,
  'user.register': user,
  'user.get': user,
  'user.getCurrent': { ...user, object: 'ui_config user_config' },
  'user.list': user,
  'user.update': user,
  'user.getConfig': { string: 'user_id role_id', array: assigned, object: 'ui_config' },
  'role.list': { string: 'role_id role_key role_name' },
  'config.getSms': { string: 'sms_provider sms_auth_key sms_auth_token sms_from sms_to' },
  'config.getSmtp': {
    string: 'smtp_host smtp_username smtp_password smtp_from smtp_to',
    integer: 'smtp_port',
    boolean: 'smtp_auth smtp_attachment',
  },
  'customer.get': customer,
  'customer.list': customer,
  'customer.get customer_address': {
    string:
      'customer_area customer_city customer_country customer_state customer_street customer_unit customer_zip',
  },
  'notification.get notification_data': { string: 'attachment from message subject to' },
  'notification.gallery gallery': { array: 'image', string: 'image_url time_stamp uuid' },
  'acl.list components': { integer: 'component_key', string: 'component_name' },
  'media.ticket': { string: 'ticket fmp4 ws whep', integer: 'expires_in' },
}

interface JsonSchema {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  type?: string
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  anyOf?: JsonSchema[]
}

function toJsonSchema(operation: string): JsonSchema {
  const [resource = '', name = ''] = operation.split('.')
  const routes = managementRoutes as Record<string, Record<string, ManagementRoute>>
  return z.toJSONSchema(routes[resource]![name]!.response!) as JsonSchema
}

/**
 * Properties of a response (`resource.operation`) or of one of its fields
 * (`resource.operation field`).
 */
function getProperties(path: string): Record<string, JsonSchema> {
  const [operation = '', field] = path.split(' ')
  const root = toJsonSchema(operation)
  const resolved = (schema: JsonSchema): JsonSchema =>
    schema.$ref ? root.$defs![schema.$ref.split('/').at(-1)!]! : schema
  const toItems = (schema: JsonSchema) => resolved(resolved(schema).items ?? schema)
  const { properties = {} } = field ? toItems(toItems(root).properties![field]!) : toItems(root)
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, resolved(schema)]),
  )
}

/** The type of a property, ignoring null. */
const getType = ({ type, anyOf = [] }: JsonSchema = {}) =>
  type ?? anyOf.find(option => option.type !== 'null')?.type

describe('management responses', () => {
  it.each(Object.entries(specified))('%s has the specified fields and types', (path, fields) => {
    const properties = getProperties(path)
    for (const [type, names = ''] of Object.entries(fields)) {
      for (const name of names.split(' ')) {
        expect({ name, type: getType(properties[name]) }).toEqual({ name, type })
      }
    }
  })
})
