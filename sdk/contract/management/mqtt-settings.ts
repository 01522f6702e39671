import { z } from 'zod'
import { route } from './management-route.ts'
import { text } from './record-fields.ts'

const ADDRESS_ERROR =
  'must be an address such as mqtt://broker.example.com or mqtts://broker.example.com:8883'
const PREFIX_ERROR = 'must be one or more names, separated by slashes, without spaces, #, + and $'

/** The credentials of the broker have fields of their own, so that addresses can be shown. */
const brokerUrl = text.refine(
  value => {
    if (value === '') return true
    const url = URL.parse(value)
    return (
      url !== null &&
      /^(mqtts?|wss?):$/.test(url.protocol) &&
      url.hostname !== '' &&
      url.username === '' &&
      url.password === ''
    )
  },
  { error: `${ADDRESS_ERROR}, without user and password` },
)

const TOPIC_LEVELS = /^[^\s#+$/]+(\/[^\s#+$/]+)*$/

/** Settings of the MQTT broker to which events, counts, states and pictures are published. */
export const mqttSettings = z
  .object({
    mqtt_is_enabled: z.boolean(),
    mqtt_url: brokerUrl.meta({ description: 'Address of the broker: mqtt, mqtts, ws or wss' }),
    mqtt_username: text,
    mqtt_password: text,
    mqtt_topic_prefix: text.max(128).regex(TOPIC_LEVELS, { error: PREFIX_ERROR }),
    mqtt_box: text
      .max(64)
      .regex(/^[\w-]*$/, { error: 'must consist of letters, digits, _ and -' })
      .meta({ description: 'Name of this appliance in topics; its host name if empty' }),
    mqtt_is_discovery: z
      .boolean()
      .meta({ description: 'Whether Home Assistant shows the channels by itself' }),
    mqtt_discovery_prefix: text.max(128).regex(TOPIC_LEVELS, { error: PREFIX_ERROR }),
    mqtt_is_picture: z.boolean().meta({ description: 'Whether pictures of notifications are published' }),
  })
  .meta({ id: 'MqttSettings' })
export type MqttSettings = z.infer<typeof mqttSettings>

export const mqttRoutes = {
  mqtt: route({
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
