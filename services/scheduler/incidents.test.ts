import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createMessageFactory,
  insertChannel,
  insertEngine,
} from '../../test/fixtures/management/engine-messages.ts'
import {
  insertAlert,
  readChannelDeliveries,
  readIncidents,
} from '../../test/fixtures/management/incident-records.ts'
import { sharedManagement } from '../../test/fixtures/management/shared-management.ts'
import { startSchedulerProcess } from '../../test/fixtures/scheduler/run-scheduler.ts'
import { serveSchedulerApi } from '../../test/fixtures/scheduler/scheduler-api.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../test/fixtures/scheduler/webhook-receiver.ts'
import { alertSubscriber } from '../management/alerts/evaluate-messages.ts'
import { delivery } from '../management/db/schema/index.ts'
import { createIngest } from '../management/events/ingest/ingest.ts'
import { followUp } from '../management/follow-up/follow-up.ts'

const FIRINGS = 200
const minute = 60_000

const management = sharedManagement()
beforeEach(() => management.database.system('test', tx => tx.delete(delivery)))

/** A channel that counts people, and a scheduler that sends the messages of its alerts. */
async function start() {
  const api = await serveSchedulerApi(management)
  onTestFinished(() => api.close())
  const scheduler = await startSchedulerProcess(api.url)
  onTestFinished(() => scheduler.stop())
  const { database } = management
  const engine = await insertEngine(database)
  const channelId = await insertChannel(database, engine, 'occupancy', { channel_sid: 1 })
  const ingest = createIngest({
    database,
    subscribers: [alertSubscriber],
    log: createLog('test', 'silent'),
  })
  const factory = createMessageFactory()
  await ingest.consume(engine.engine_id, [factory.hello()])
  return {
    channel_id: channelId,
    /** Lets the alerts of the channel fire, a few times in each transaction. */
    async fire(times: number) {
      const beginMs = Date.now()
      const messages = Array.from({ length: times }, (_, i) =>
        factory.occupancy(1, beginMs + i * 10, 6),
      )
      while (messages.length > 0) await ingest.consume(engine.engine_id, messages.splice(0, 7))
    },
  }
}

type Action = Parameters<typeof insertAlert>[2]
const toReceiver = ({ url }: WebhookReceiver): Action => ({ alert_actions: [{ action_url: url }] })
const readSubjects = ({ calls }: WebhookReceiver) =>
  calls.map(({ body }) => (JSON.parse(body) as { data: { subject: string } }).data.subject)

/** Resolves when nothing is left to send on a channel. */
const waitUntilSent = (channelId: string) =>
  vi.waitFor(async () => {
    const rows = await readChannelDeliveries(management.database, channelId)
    expect(rows.filter(({ next_attempt_at }) => next_attempt_at !== null)).toEqual([])
  })

describe('a flood of notifications', () => {
  it('reaches its receiver as one message, and is one incident', async () => {
    const receiver = await startWebhookReceiver()
    const { channel_id: channelId, fire } = await start()
    await insertAlert(management.database, channelId, toReceiver(receiver))
    await fire(FIRINGS)
    await waitUntilSent(channelId)
    await followUp(management.database, Date.now() + 61 * minute)
    await waitUntilSent(channelId)
    expect(receiver.calls).toHaveLength(1)
    expect(await readIncidents(management.database, channelId)).toMatchObject([{ count: FIRINGS }])
    const rows = await readChannelDeliveries(management.database, channelId)
    expect(rows.filter(({ state }) => state === 'suppressed')).toHaveLength(FIRINGS - 1)
  })

  it('of which each one is wanted ends at the budget, and its rest is one digest', async () => {
    const receiver = await startWebhookReceiver()
    const { channel_id: channelId, fire } = await start()
    await insertAlert(management.database, channelId, toReceiver(receiver), {
      repeat_s: 0,
      budget_per_hour: 1,
    })
    await fire(FIRINGS)
    await waitUntilSent(channelId)
    expect(receiver.calls).toHaveLength(1)
    for (const minutes of [61, 61, 200]) {
      await followUp(management.database, Date.now() + minutes * minute)
    }
    await waitUntilSent(channelId)
    expect(readSubjects(receiver)).toEqual([
      'Crowd on Channel occupancy',
      `${FIRINGS - 1} more notifications: Crowd on Channel occupancy`,
    ])
    expect(await readIncidents(management.database, channelId)).toMatchObject([{ count: FIRINGS }])
    const rows = await readChannelDeliveries(management.database, channelId)
    expect(rows.filter(({ state }) => state === 'suppressed')).toHaveLength(FIRINGS - 1)
  })
})

describe('an escalation', () => {
  async function startWithEscalation() {
    const [first, second] = [await startWebhookReceiver(), await startWebhookReceiver()]
    const { channel_id: channelId, fire } = await start()
    const escalation = [{ after_minutes: 5, actions: [{ action_url: second.url }] }]
    await insertAlert(management.database, channelId, toReceiver(first), { escalation })
    await fire(3)
    await vi.waitUntil(() => first.calls.length === 1)
    const [incident] = await readIncidents(management.database, channelId)
    return { channel_id: channelId, first, second, incident_id: incident!.incident_id }
  }

  it('reaches the second receiver if no person acknowledges the incident', async () => {
    const { channel_id: channelId, first, second } = await startWithEscalation()
    for (const minutes of [4, 6, 6, 30]) {
      await followUp(management.database, Date.now() + minutes * minute)
    }
    await waitUntilSent(channelId)
    expect(readSubjects(second)).toEqual(['Not acknowledged: Crowd on Channel occupancy'])
    expect(first.calls).toHaveLength(1)
  })

  it('does not if a person acknowledges it', async () => {
    const { channel_id: channelId, second, incident_id } = await startWithEscalation()
    const { status } = await management.call(managementRoutes.incident.acknowledge, { incident_id })
    expect(status).toBe(200)
    await followUp(management.database, Date.now() + 30 * minute)
    await waitUntilSent(channelId)
    const rows = await management.database.system('test', tx =>
      tx.select().from(delivery).where(eq(delivery.kind, 'escalation')),
    )
    expect(rows).toEqual([])
    expect(second.calls).toEqual([])
  })
})
