import { z } from 'zod'
import { route } from './management-route.ts'
import { emptyOr, text } from './record-fields.ts'

/**
 * Settings in the management API for MQTT: the broker to which the appliance publishes what
 * happens, and the topics.
 */

/**
 * Whether this is the address of a broker. Credentials have fields of their own, so that the
 * address can be shown.
 */
function isBrokerUrl(value: string): boolean {
  const url = URL.parse(value)
  return (
    url !== null &&
    /^(mqtts?|wss?):$/.test(url.protocol) &&
    url.hostname !== '' &&
    url.username === '' &&
    url.password === ''
  )
}

const brokerUrl = emptyOr(
  isBrokerUrl,
  'must be an address such as mqtt://broker.example.com or mqtts://broker.example.com:8883, without user and password',
)

/** The beginning of topics. */
const topicPrefix = text.max(128).regex(/^[^\s#+$/]+(\/[^\s#+$/]+)*$/, {
  error: 'must be one or more names, separated by slashes, without spaces, #, + and $',
})

export const mqttSettings = z
  .object({
    mqtt_is_enabled: z.boolean(),
    mqtt_url: brokerUrl.meta({ description: 'Address of the broker: mqtt, mqtts, ws or wss' }),
    mqtt_username: text,
    mqtt_password: text,
    mqtt_topic_prefix: topicPrefix,
    mqtt_box: text
      .max(64)
      .regex(/^[\w-]*$/, { error: 'must consist of letters, digits, _ and -' })
      .meta({ description: 'Name of this appliance in topics; its host name if empty' }),
    mqtt_is_discovery: z.boolean().meta({
      description: 'Whether messages are published by which Home Assistant discovers the channels',
    }),
    mqtt_discovery_prefix: topicPrefix.meta({
      description: 'Beginning of the topics of this discovery',
    }),
    mqtt_is_picture: z
      .boolean()
      .meta({ description: 'Whether pictures of notifications are published' }),
  })
  .meta({ id: 'MqttSettings' })
export type MqttSettings = z.infer<typeof mqttSettings>

export const mqttRoutes = {
  getMqtt: route({
    method: 'get',
    path: '/config/mqtt',
    summary: 'Get the MQTT settings',
    description: 'The password is never returned.',
    access: 'administer',
    status: 200,
    response: mqttSettings,
  }),

  updateMqtt: route({
    method: 'post',
    path: '/config/mqtt/update',
    summary: 'Update the MQTT settings',
    description: 'Omitted fields are preserved.',
    access: 'own',
    body: mqttSettings.strict().partial(),
    status: 200,
    response: null,
  }),
}
