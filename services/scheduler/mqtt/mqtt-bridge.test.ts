import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { managementRoutes } from '@eyrie/contract/management/index'
import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createMessageFactory,
  insertChannel,
  insertEngine,
} from '../../../test/fixtures/management/engine-messages.ts'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { brokerEgress } from '../../../test/fixtures/network/local-egress.ts'
import {
  type Mosquitto,
  mosquittoRequirement,
  startMosquitto,
} from '../../../test/fixtures/network/mosquitto.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { startSchedulerProcess } from '../../../test/fixtures/scheduler/run-scheduler.ts'
import {
  SCHEDULER_TOKEN,
  serveSchedulerApi,
} from '../../../test/fixtures/scheduler/scheduler-api.ts'
import { alertSubscriber } from '../../management/alerts/evaluate-messages.ts'
import {
  alert,
  alertState,
  channel,
  channelState,
  notification,
  picture,
} from '../../management/db/schema/index.ts'
import { createIngest } from '../../management/events/ingest/ingest.ts'
import { createPictureStore } from '../../management/events/pictures/picture-store.ts'
import { publishLiveCounts } from '../../management/feed/live-counts.ts'
import { publishMessages } from '../../management/feed/publish-message.ts'
import { createFeedClient } from '../management-client/feed-client.ts'
import { createManagementClient } from '../management-client/management-client.ts'
import { createMqttBridge } from './mqtt-bridge.ts'

const management = sharedManagement()
const log = createLog('scheduler', 'silent')

/** An engine with a channel that counts line crossings, and an alert. */
let engineId = ''
let channelId = ''
let alertId = ''

beforeEach(async () => {
  const engine = await insertEngine(management.database)
  engineId = engine.engine_id
  channelId = await insertChannel(management.database, engine, 'line-crossing', {
    channel_sid: 1,
    channel_name: 'Door',
  })
  alertId = await management.database.system('test', async tx => {
    const [row] = await tx
      .insert(alert)
      .values({
        channel_id: channelId,
        alert_name: 'Crowd',
        alert_priority: 'high',
        alert_threshold: '1',
        alert_threshold_condition: 'gt',
        alert_threshold_key: 'total',
        alert_frequency: 0,
        alert_actions: [],
      })
      .returning()
    return row!.alert_id
  })
})

/** The internal API of management, which the tests of this file share. */
async function serve(): Promise<string> {
  const api = await serveSchedulerApi(management)
  onTestFinished(() => api.close())
  return api.url
}

const configure = (settings: Partial<MqttSettings>) =>
  management.call(managementRoutes.config.updateMqtt, settings)

/** Starts a bridge that publishes what this management reports. */
async function startBridge(broker: Mosquitto, settings: Partial<MqttSettings> = {}) {
  await configure({
    ...broker.settings,
    mqtt_is_discovery: true,
    mqtt_is_picture: true,
    ...settings,
  })
  onTestFinished(async () => void (await configure({ mqtt_is_enabled: false })))
  const url = await serve()
  const client = createManagementClient(url, SCHEDULER_TOKEN)
  const bridge = createMqttBridge({
    management: createFeedClient(url, SCHEDULER_TOKEN, client),
    egress: brokerEgress,
    log,
  })
  bridge.start()
  onTestFinished(bridge.stop)
  return bridge
}

const prefix = () => `eyrie/test/channel/${channelId}`
const crossings = createMessageFactory

/** Ingests line crossings now, and publishes the counts as the background job does. */
async function ingestCrossings(count: number): Promise<void> {
  const { database } = management
  const { hello, crossing } = crossings()
  const ingest = createIngest({ database, subscribers: [alertSubscriber], log })
  const now = Date.now()
  await ingest.consume(engineId, [
    hello(),
    ...Array.from({ length: count }, (_, i) => crossing(1, now + i)),
  ])
  await publishLiveCounts(database, now + count)
}

/** Stores a picture and a notification that shows it. */
async function insertPictureNotification(jpeg: Buffer): Promise<void> {
  const sha256 = createHash('sha256').update(jpeg).digest('hex')
  await createPictureStore(resolve(management.data, 'management/pictures')).write(sha256, jpeg)
  await management.database.system('test', async tx => {
    const time = new Date()
    await tx
      .insert(picture)
      .values({ sha256, engine_id: engineId, time, is_stored: true, fetched_at: time })
    await tx.insert(notification).values({
      channel_id: channelId,
      alert_id: alertId,
      usecase_key: 'line-crossing',
      notification_time: time,
      notification_data: { attachment: sha256, from: '', message: '', subject: '', to: '' },
      alert_name: 'Crowd',
      condition: 'gt',
      threshold: '1',
      threshold_key: 'total',
      value: 2,
      deliveries: [],
      picture: sha256,
    })
  })
}

const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/

/** Replaces the variable parts of a topic by their names in the guide. */
const describeTopic = (topic: string) =>
  topic
    .replace(/^homeassistant\/\w+\//, 'homeassistant/<component>/')
    .replace(new RegExp(`${UUID.source}_.*/config`), '<channel_id>_<entity>/config')
    .replace(new RegExp(`/(channel|alert|source|engine)/${UUID.source}`), '/$1/<$1_id>')
    .replace('_test/', '_<box>/')
    .replace('eyrie/test/', 'eyrie/<box>/')

describe('publishing by MQTT', needs(mosquittoRequirement), () => {
  it('announces channels to Home Assistant, with unique ids that are the same after a restart', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('#')
    const first = await startBridge(broker)
    const find = (component: string, entity: string) =>
      home.readJson(`homeassistant/${component}/eyrie_test/${channelId}_${entity}/config`) as
        | Record<string, unknown>
        | undefined
    await vi.waitUntil(
      () =>
        find('binary_sensor', 'connectivity') && home.readText('eyrie/test/status') === 'online',
    )
    await vi.waitUntil(
      () =>
        home.readText(`${prefix()}/counts`) && home.readText(`eyrie/test/alert/${alertId}/state`),
    )
    expect(find('sensor', 'up')).toEqual({
      unique_id: `eyrie_${channelId}_up`,
      name: 'Up',
      availability_topic: 'eyrie/test/status',
      state_topic: `${prefix()}/counts`,
      value_template: "{{ value_json['up'] }}",
      state_class: 'total_increasing',
      device: {
        identifiers: [`eyrie_${channelId}`],
        name: 'Door',
        manufacturer: 'Eyrie',
        model: 'line-crossing',
        suggested_area: expect.any(String),
      },
      origin: { name: 'Eyrie' },
    })
    expect(find('binary_sensor', `alert_${alertId}`)).toMatchObject({
      name: 'Crowd',
      state_topic: `eyrie/test/alert/${alertId}/state`,
    })
    expect(find('image', 'picture')).toMatchObject({
      image_topic: `${prefix()}/picture`,
      content_type: 'image/jpeg',
    })
    expect(find('binary_sensor', 'connectivity')).toMatchObject({ device_class: 'connectivity' })
    const before = new Map(home.retained)
    await first.stop()
    await vi.waitUntil(() => home.readText('eyrie/test/status') === 'offline')
    home.messages.length = 0
    await startBridge(broker)
    await vi.waitUntil(() => home.messages.some(({ topic }) => topic.endsWith('_up/config')))
    await vi.waitUntil(() => home.readText('eyrie/test/status') === 'online')
    expect([...home.retained.keys()].toSorted()).toEqual([...before.keys()].toSorted())
  })

  it('publishes counts, notifications, pictures and states as they change', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('eyrie/#')
    await startBridge(broker)
    await vi.waitUntil(() => home.readText(`${prefix()}/counts`))
    expect(home.readJson(`${prefix()}/counts`)).toEqual({ up: 0, down: 0, total: 0 })
    await ingestCrossings(3)
    await vi.waitUntil(() => (home.readJson(`${prefix()}/counts`) as { up: number }).up === 3)
    const events = await vi.waitUntil(() => {
      const found = home.messages.filter(({ topic }) => topic === `${prefix()}/notification`)
      return found.length > 0 && found
    })
    expect(JSON.parse(String(events[0]!.payload))).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      channel_id: channelId,
      channel_name: 'Door',
      alert_id: alertId,
      alert_name: 'Crowd',
      value: 2,
    })
    await vi.waitUntil(() => home.readText(`eyrie/test/alert/${alertId}/state`) === 'ON')

    const jpeg = randomBytes(50_000)
    await insertPictureNotification(jpeg)
    await vi.waitUntil(() => home.retained.get(`${prefix()}/picture`)?.equals(jpeg))

    await management.database.system('test', async tx => {
      await tx
        .insert(channelState)
        .values({ channel_id: channelId, status: 'running', is_heard: true })
      await tx.update(alertState).set({ holds: false }).where(eq(alertState.alert_id, alertId))
    })
    await vi.waitUntil(() => home.readText(`eyrie/test/alert/${alertId}/state`) === 'OFF')
    expect(home.readJson(`${prefix()}/state`)).toEqual({
      channel_name: 'Door',
      status: 'running',
      reason: '',
      is_active: true,
      is_connected: true,
    })
  })

  it('publishes and retains exactly the topics that the guide documents', async () => {
    const guide = readFileSync(resolve(import.meta.dirname, '../../../docs/guide/mqtt.md'), 'utf8')
    const documented = [...guide.matchAll(/^\| `([^`]+)` \| (yes|no) \|/gm)].map(
      ([, topic, retained]) => `${topic} ${retained}`,
    )
    const broker = await startMosquitto()
    const home = await broker.subscribe('#')
    await startBridge(broker)
    await vi.waitUntil(() => home.readText(`${prefix()}/counts`))
    await insertPictureNotification(randomBytes(100))
    await management.database.system('test', async tx => {
      await publishMessages(tx, [
        { kind: 'incident', channel_id: channelId, data: {} },
        { kind: 'system_alert', engine_id: engineId, data: {} },
      ])
      await tx
        .insert(channelState)
        .values({ channel_id: channelId, status: 'running', is_heard: true })
    })
    await vi.waitUntil(() => home.messages.some(({ topic }) => topic.includes('/source/')))
    await vi.waitUntil(() => home.readText(`${prefix()}/picture`))
    const retained = await broker.subscribe('#')
    const published = () =>
      new Set(
        home.messages.map(
          ({ topic }) => `${describeTopic(topic)} ${retained.retained.has(topic) ? 'yes' : 'no'}`,
        ),
      )
    const isEvent = (topic: string) => /\/(notification|incident|system-alert)$/.test(topic)
    await vi.waitUntil(() => {
      const states = [...home.retained.keys()].filter(topic => !isEvent(topic))
      return retained.retained.size === states.length && published().size === documented.length
    })
    expect([...published()].toSorted()).toEqual(documented.toSorted())
  })

  it('publishes all states again after the broker has lost them, and what happened in between', async () => {
    const broker = await startMosquitto()
    const before = await broker.subscribe('eyrie/#')
    const bridge = await startBridge(broker)
    await vi.waitUntil(() => before.readText(`${prefix()}/counts`))
    await broker.kill()
    await vi.waitUntil(() => !bridge.status().isConnected)
    await ingestCrossings(2)
    await ingestCrossings(2)
    await broker.start()
    const after = await broker.subscribe('#')
    await vi.waitUntil(
      () => (after.readJson(`${prefix()}/counts`) as { up: number } | undefined)?.up === 4,
    )
    await vi.waitUntil(() =>
      after.readText(`homeassistant/sensor/eyrie_test/${channelId}_up/config`),
    )
    expect(after.readText('eyrie/test/status')).toBe('online')
    expect(bridge.status()).toMatchObject({ isConnected: true, reason: '', droppedEvents: 0 })
  })

  it('publishes all states again when Home Assistant has started', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('#')
    await startBridge(broker)
    const topic = `homeassistant/sensor/eyrie_test/${channelId}_up/config`
    await vi.waitUntil(() => home.readText(topic) && home.readText(`${prefix()}/counts`))
    home.messages.length = 0
    await home.client.publishAsync('homeassistant/status', 'online')
    await vi.waitUntil(() => home.messages.some(message => message.topic === topic))
    await vi.waitUntil(() => home.messages.some(message => message.topic === `${prefix()}/counts`))
  })

  it('removes channels and alerts that no longer exist, even if they were deleted while it was stopped', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('#')
    const bridge = await startBridge(broker)
    const about = (id: string) => [...home.retained.keys()].filter(topic => topic.includes(id))
    await vi.waitUntil(() => about(alertId).length === 2 && about(channelId).length > 5)
    const { database } = management
    await database.system('test', tx => tx.delete(alert).where(eq(alert.alert_id, alertId)))
    await vi.waitUntil(() => about(alertId).length === 0)
    expect(about(channelId).length).toBeGreaterThan(5)
    await bridge.stop()
    await database.system('test', tx => tx.delete(channel).where(eq(channel.channel_id, channelId)))
    await startBridge(broker)
    await vi.waitUntil(() => about(channelId).length === 0)
  })

  it('removes everything when it is disabled, and follows a new prefix', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('#')
    await startBridge(broker)
    await vi.waitUntil(() => home.readText(`${prefix()}/counts`))
    await configure({ mqtt_topic_prefix: 'cameras' })
    await vi.waitUntil(() => home.readText(`cameras/test/channel/${channelId}/counts`))
    await vi.waitUntil(() => [...home.retained.keys()].every(topic => !topic.startsWith('eyrie/')))
    await configure({ mqtt_is_enabled: false })
    await vi.waitUntil(() => home.retained.size === 0)
    await configure({ mqtt_topic_prefix: 'eyrie' })
  })

  it('connects by WebSocket', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('eyrie/#')
    await startBridge(broker, { mqtt_url: broker.webSocketUrl })
    await vi.waitUntil(() => home.readText(`${prefix()}/counts`))
  })

  it('reports why the broker refuses the connection', async () => {
    const broker = await startMosquitto()
    const bridge = await startBridge(broker, { mqtt_password: 'wrong' })
    await vi.waitUntil(() => bridge.status().reason !== '')
    expect(bridge.status()).toMatchObject({
      isEnabled: true,
      isConnected: false,
      reason: expect.stringMatching(/not authori[sz]ed/i),
    })
  })

  it('does not connect to addresses that the egress rules forbid', async () => {
    const broker = await startMosquitto()
    const bridge = await startBridge(broker, { mqtt_url: 'mqtt://169.254.169.254' })
    await vi.waitUntil(() => bridge.status().reason !== '')
    expect(bridge.status().reason).toContain('no MQTT broker may be there')
  })

  it('has the broker report that the appliance is offline after the scheduler was killed', async () => {
    const broker = await startMosquitto()
    const home = await broker.subscribe('eyrie/test/status')
    await configure({ ...broker.settings, mqtt_is_discovery: true })
    onTestFinished(async () => void (await configure({ mqtt_is_enabled: false })))
    const scheduler = await startSchedulerProcess(await serve())
    await vi.waitUntil(() => home.readText('eyrie/test/status') === 'online')
    const metrics = await (await fetch(`${scheduler.url}/metrics`)).text()
    expect(metrics).toContain('eyrie_scheduler_mqtt_connected 1')
    await scheduler.kill()
    await vi.waitUntil(() => home.readText('eyrie/test/status') === 'offline')
  })
})
