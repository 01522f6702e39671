import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { createLog } from '@eyrie/kit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { brokerEgress } from '../../../test/fixtures/network/local-egress.ts'
import { mosquittoRequirement, startMosquitto } from '../../../test/fixtures/network/mosquitto.ts'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../test/fixtures/scheduler/webhook-receiver.ts'
import { createManagementClient } from '../management-client/management-client.ts'
import { type Publisher, startPublisher } from './publisher.ts'

const CHANNEL = '0199a1b0-0000-7000-8000-000000000001'
const PREFIX = `eyrie/test/channel/${CHANNEL}`
const RECORD = { channel_id: CHANNEL, source_id: null, engine_id: null, time: '' }
/** The answer of a broker that accepts a connection. */
const CONNACK = Buffer.from([0x20, 2, 0, 0])
const log = createLog('scheduler', 'silent')

/** Starts a publisher of one channel, whose pictures `answer` provides. */
async function start(broker: Partial<MqttSettings>, answer: WebhookReceiver['answer']) {
  const settings: MqttSettings = {
    mqtt_is_enabled: true,
    mqtt_url: '',
    mqtt_username: '',
    mqtt_password: '',
    mqtt_topic_prefix: 'eyrie',
    mqtt_box: 'test',
    mqtt_is_discovery: false,
    mqtt_discovery_prefix: 'homeassistant',
    mqtt_is_picture: true,
    ...broker,
  }
  const { port } = await startWebhookReceiver(answer)
  const { readPicture } = createManagementClient(`http://127.0.0.1:${port}`, 'token')
  const publisher = startPublisher(settings, { egress: brokerEgress, readPicture, log })
  onTestFinished(() => publisher.stop({ withdraw: false }))
  const channel = {
    channel_id: CHANNEL,
    channel_name: 'Door',
    usecase_key: 'occupancy',
    source_id: '0199a1b0-0000-7000-8000-000000000002',
    device_name: 'Camera',
    site_name: 'Office',
    statistics: [],
    counts: {},
    status: 'running',
    reason: '',
    is_active: true,
    is_current: true,
  }
  publisher.records.applyInventory({
    position: 0,
    settings,
    channels: [channel],
    alerts: [],
    engines: [],
  })
  return publisher
}

const addPicture = ({ records }: Publisher, position: number) =>
  records.applyMessage({
    ...RECORD,
    kind: 'picture',
    position,
    data: { attachment: String(position).padStart(64, '0') },
  })

const addNotification = ({ records }: Publisher, position: number) =>
  records.applyMessage({ ...RECORD, kind: 'notification', position, data: {} })

describe('publisher', needs(mosquittoRequirement), () => {
  it('publishes other messages while management does not answer the request for a picture', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('eyrie/#')
    let requests = 0
    const publisher = await start(broker.settings, () => {
      requests += 1
    })
    addPicture(publisher, 1)
    await vi.waitUntil(() => requests > 0)
    addNotification(publisher, 2)
    await vi.waitUntil(() => home.readText(`${PREFIX}/notification`))
  })

  it('stops while management does not answer the request for a picture', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('eyrie/#')
    let requests = 0
    const publisher = await start(broker.settings, () => {
      requests += 1
    })
    addPicture(publisher, 1)
    await vi.waitUntil(() => requests > 0 && home.readText('eyrie/test/status') === 'online')
    const stoppedAt = performance.now()
    await publisher.stop({ withdraw: true })
    expect(performance.now() - stoppedAt).toBeLessThan(4000)
    await vi.waitUntil(() => home.retained.size === 0)
  })

  it('drops a picture that the broker refuses to receive, and the following ones of the channel', async () => {
    const broker = await startMosquitto(['max_packet_size 20000'])
    const home = await broker.subscribe('eyrie/#')
    let requests = 0
    const publisher = await start(broker.settings, response => {
      requests += 1
      response.end(Buffer.alloc(50_000))
    })
    const losses = () => home.messages.filter(({ payload }) => String(payload) === 'offline').length
    await vi.waitUntil(() => home.readText('eyrie/test/status') === 'online')
    addPicture(publisher, 1)
    await vi.waitUntil(() => losses() === 3)
    addPicture(publisher, 2)
    addNotification(publisher, 3)
    await vi.waitUntil(() => home.readText(`${PREFIX}/notification`))
    await publisher.stop({ withdraw: true })
    await vi.waitUntil(() => !home.retained.has('eyrie/test/status'))
    expect([requests, losses()]).toEqual([3, 3])
    expect(home.retained.has(`${PREFIX}/picture`)).toBe(false)
  })

  it('pauses for longer each time while the broker accepts connections and closes them soon', async () => {
    const connectionTimes: number[] = []
    const { port } = await startTcpServer(socket => {
      connectionTimes.push(performance.now())
      socket.once('data', () => {
        socket.write(CONNACK)
        socket.once('data', () => socket.destroy())
      })
    })
    await start({ mqtt_url: `mqtt://127.0.0.1:${port}` }, response => response.end())
    await vi.waitUntil(() => connectionTimes.length === 5)
    const [before = 0, last = 0] = connectionTimes.slice(-2)
    // The fourth pause takes from 2 to 4 s, and the first one at most half a second.
    expect(last - before).toBeGreaterThan(1900)
  })
})
