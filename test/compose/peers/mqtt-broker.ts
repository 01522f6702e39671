import { connectAsync } from 'mqtt'
import type { Stack } from '../stack.ts'
import { startPeer } from './peer.ts'

const NAME = 'broker'
const PORT = 1883
const CONFIGURATION = 'mosquitto.conf'
const USERNAME = 'eyrie'
const PASSWORD = 'broker-secret'

/** The broker mosquitto, which requires a password. */
export interface MqttBroker {
  /** Settings with which management makes the scheduler publish to it. */
  settings: object
  /** The newest message of each topic. */
  newest: Map<string, string>
}

export async function startMqttBroker(stack: Stack): Promise<MqttBroker> {
  const command = [
    ...['sh', '-c'],
    `mosquitto_passwd -b -c /tmp/passwords ${USERNAME} ${PASSWORD} && exec mosquitto -c /peer/${CONFIGURATION}`,
  ]
  const container = await startPeer(stack, { name: NAME, port: PORT, command, file: CONFIGURATION })
  const url = `mqtt://${container.getHost()}:${container.getMappedPort(PORT)}`
  const client = await connectAsync(url, { username: USERNAME, password: PASSWORD })
  // The container is removed before this process ends.
  client.on('error', () => {})
  const newest = new Map<string, string>()
  client.on('message', (topic, payload) => newest.set(topic, payload.toString()))
  await client.subscribeAsync('#', { qos: 1 })
  return {
    settings: {
      ...{ mqtt_is_enabled: true, mqtt_url: `mqtt://${NAME}:${PORT}`, mqtt_box: 'test' },
      ...{ mqtt_username: USERNAME, mqtt_password: PASSWORD },
    },
    newest,
  }
}
