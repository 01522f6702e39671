import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../test/fixtures/management/engine-messages.ts'
import {
  insertAlert,
  readChannelDeliveries,
  readIncidents,
} from '../../../test/fixtures/management/incident-records.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { evaluateByTime } from '../alerts/evaluate-by-time.ts'
import { alert, incident, snooze } from '../db/schema/index.ts'
import { escalateIncidents } from './escalate-incidents.ts'
import { followUp } from './follow-up.ts'
import { sendDigests } from './send-digests.ts'

const BEGIN = Date.parse('2026-03-04T12:00:00Z')
const second = 1000
const minute = 60 * second

const fixture = useIngestDatabase()
const insert = (
  ...options: [Parameters<typeof insertAlert>[2]?, Parameters<typeof insertAlert>[3]?]
) => insertAlert(fixture.database, fixture.channel_id, ...options)

/** Ingests counts of people, as pairs of a second and a number. */
async function count(...samples: [number, number][]) {
  const { hello, occupancy } = createMessageFactory()
  await fixture.consume([
    hello(),
    ...samples.map(([at, people]) => occupancy(1, BEGIN + at * second, people)),
  ])
}

const run = (now: number) => followUp(fixture.database, now)
const readIncident = async () => (await readIncidents(fixture.database, fixture.channel_id))[0]!
const readEnd = async () => {
  const { ended_at: endedAt } = await readIncident()
  return endedAt && (endedAt.getTime() - BEGIN) / second
}
const readKinds = async (kind: string) =>
  (await readChannelDeliveries(fixture.database, fixture.channel_id)).filter(
    row => row.kind === kind,
  )

describe('the end of an incident', () => {
  beforeEach(() => fixture.setStatus(ENGINE_STATUS.online))

  it('is when its condition stopped holding, once the quiet time is over', async () => {
    await insert({}, { quiet_s: 60 })
    await count([0, 6], [10, 3])
    await run(BEGIN + 69 * second)
    expect(await readEnd()).toBeNull()
    await run(BEGIN + 70 * second)
    expect(await readEnd()).toBe(10)
    await run(BEGIN + 90 * second)
    expect(await readEnd()).toBe(10)
  })

  it('never comes while the condition holds', async () => {
    await insert({}, { quiet_s: 0 })
    await count([0, 6])
    await run(BEGIN + 10_000 * minute)
    expect(await readEnd()).toBeNull()
  })

  it('waits for what the engine has sent during an outage, which may continue the incident', async () => {
    await insert({}, { quiet_s: 60 })
    await count([0, 6], [10, 3])
    await fixture.setStoredUntil(BEGIN + 20 * second)
    await run(BEGIN + 30 * minute)
    expect(await readEnd()).toBeNull()

    await count([40, 7], [50, 3])
    await fixture.setStoredUntil(BEGIN + 30 * minute)
    await run(BEGIN + 30 * minute)
    expect(await readIncidents(fixture.database, fixture.channel_id)).toMatchObject([{ count: 2 }])
    expect(await readEnd()).toBe(50)
    expect(await readKinds('notification')).toMatchObject([
      { state: 'queued' },
      { state: 'suppressed' },
    ])
  })

  it('comes when time alone releases the condition', async () => {
    await insert({ alert_threshold_key: 'up', alert_threshold: '0' }, { quiet_s: 30 })
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, BEGIN)])
    // The window is a minute. Evaluation waits two seconds for late messages.
    await evaluateByTime(fixture.database, BEGIN + 62 * second)
    await run(BEGIN + 90 * second)
    expect(await readEnd()).toBe(60)
  })

  it.each([
    [
      'disabled',
      (alertId: string) =>
        fixture.database.system('test', tx =>
          tx.update(alert).set({ is_active: false }).where(eq(alert.alert_id, alertId)),
        ),
    ],
    [
      'deleted',
      (alertId: string) =>
        fixture.database.system('test', tx => tx.delete(alert).where(eq(alert.alert_id, alertId))),
    ],
  ] as const)('comes when the alert is %s', async (_, change) => {
    const alertId = await insert()
    await count([0, 6], [20, 6])
    await change(alertId)
    await run(BEGIN + 30 * second)
    expect(await readEnd()).toBe(20)
  })
})

describe('an escalation', () => {
  const escalation = [
    { after_minutes: 5, actions: [{ action_to: 'second@example.com' }] },
    {
      after_minutes: 10,
      actions: [{ action_to: 'third@example.com' }, { action_to: 'fourth@example.com' }],
    },
  ]
  const readReceivers = async () =>
    (await readKinds('escalation')).map(({ recipient }) => recipient)

  it('informs the next receivers in turn, each once, although it runs twice or is aborted', async () => {
    await insert({}, { escalation })
    await count([0, 6], [1, 8])
    const now = Date.now()
    await run(now + 4 * minute)
    expect(await readReceivers()).toEqual([])

    const aborted = fixture.database.system('test', async tx => {
      await escalateIncidents(tx, now + 6 * minute)
      throw new Error('aborted')
    })
    await expect(aborted).rejects.toThrow('aborted')
    await Promise.all([run(now + 6 * minute), run(now + 6 * minute)])
    await run(now + 6 * minute)
    expect(await readReceivers()).toEqual(['second@example.com'])
    const [delivery] = await readKinds('escalation')
    const { incident_id, best_notification: bestNotification } = await readIncident()
    expect(delivery).toMatchObject({
      state: 'queued',
      incident_id,
      notification_uuid: bestNotification,
      request: {
        subject: 'Not acknowledged: Crowd on Channel line-crossing',
        message: expect.stringMatching(/^Not acknowledged within 5 min: occupancy is 8/),
      },
    })

    await run(now + 15 * minute)
    await run(now + 17 * minute)
    await run(now + 60 * minute)
    expect(await readReceivers()).toEqual([
      'second@example.com',
      'third@example.com',
      'fourth@example.com',
    ])
    const last = (await readKinds('escalation')).at(-1)
    expect(last!.request.message).toMatch(/^Not acknowledged within 15 min: /)
    expect(await readIncident()).toMatchObject({ escalation_step: 2, escalates_at: null })
  })

  it('goes on after the incident has ended without a person who has seen it', async () => {
    await fixture.setStatus(ENGINE_STATUS.online)
    await insert({}, { escalation, quiet_s: 0 })
    await count([0, 6], [1, 3], [2, 3])
    await run(Date.now() + 6 * minute)
    expect(await readEnd()).toBe(1)
    expect(await readReceivers()).toEqual(['second@example.com'])
  })

  it('waits for the end of a snooze', async () => {
    await insert({}, { escalation })
    await count([0, 6])
    const now = Date.now()
    await fixture.database.system('test', tx =>
      tx.insert(snooze).values({
        site_id: fixture.engine.site_id,
        channel_id: fixture.channel_id,
        until: new Date(now + 30 * minute),
      }),
    )
    await run(now + 29 * minute)
    expect(await readReceivers()).toEqual([])
    await run(now + 31 * minute)
    expect(await readReceivers()).toEqual(['second@example.com'])
  })

  it('ends with its policy', async () => {
    const alertId = await insert({}, { escalation })
    await count([0, 6])
    await fixture.database.system('test', tx => tx.delete(alert).where(eq(alert.alert_id, alertId)))
    await run(Date.now() + 6 * minute)
    expect(await readReceivers()).toEqual([])
    expect(await readIncident()).toMatchObject({ escalates_at: null })
  })
})

describe('a digest', () => {
  const policy = { repeat_s: 0, budget_per_hour: 2 }
  const hour = 60 * minute
  const readDigests = () => readKinds('digest')

  it('replaces the messages that the budget has suppressed, once, although it runs twice or is aborted', async () => {
    await insert({ alert_actions: [{ action_to: 'ops@digest.example' }] }, policy)
    await insert(
      { alert_name: 'Queue', alert_actions: [{ action_to: 'ops@digest.example' }] },
      policy,
    )
    await count([0, 6], [1, 6], [2, 6])
    const now = Date.now()
    await run(now + 59 * minute)
    expect(await readDigests()).toEqual([])

    const aborted = fixture.database.system('test', async tx => {
      await sendDigests(tx, now + hour + minute)
      throw new Error('aborted')
    })
    await expect(aborted).rejects.toThrow('aborted')
    await Promise.all([run(now + hour + minute), run(now + hour + minute)])
    await run(now + 2 * hour)
    const digests = await readDigests()
    expect(digests).toHaveLength(1)
    expect(digests[0]).toMatchObject({
      state: 'queued',
      recipient: 'ops@digest.example',
      notification_uuid: null,
      request: { subject: '4 more notifications of 2 alerts' },
    })
    expect(digests[0]!.request.message.split('\n').slice(1)).toEqual([
      '2 × Crowd on Channel line-crossing, 2026-03-04T12:00:01.000Z to 2026-03-04T12:00:02.000Z',
      '2 × Queue on Channel line-crossing, 2026-03-04T12:00:01.000Z to 2026-03-04T12:00:02.000Z',
    ])
  })

  it('uses the payload of the action', async () => {
    const action = {
      action_url: 'https://chat.example/digest',
      action_payload: '{"text": "{{alert_name}}"}',
      action_process_delay: 60,
    }
    await insert({ alert_actions: [action] }, { ...policy, budget_per_hour: 1 })
    await count([0, 6], [1, 6], [2, 6])
    await run(Date.now() + hour + minute)
    const [digest] = await readDigests()
    expect(digest).toMatchObject({ type: 'webhook', recipient: 'chat.example' })
    expect(digest!.request.action).toMatchObject({
      action_payload: '{"text": "2 more notifications: Crowd on Channel line-crossing"}',
      action_process_delay: 0,
    })
  })
})

describe('snoozes that are over', () => {
  it('are deleted, and others are retained', async () => {
    await insert()
    await count([0, 6])
    const { site_id: siteId } = fixture.engine
    const now = Date.now()
    await fixture.database.system('test', tx =>
      tx.insert(snooze).values([
        { site_id: siteId, until: new Date(now + minute), reason: 'over' },
        { site_id: siteId, until: new Date(now + 10 * minute), reason: 'current' },
        { site_id: siteId, until: null, reason: 'until resolved' },
      ]),
    )
    const readReasons = () =>
      fixture.database.system('test', async tx =>
        (await tx.select().from(snooze).where(eq(snooze.site_id, siteId))).map(
          ({ reason }) => reason,
        ),
      )
    await run(now + 5 * minute)
    expect((await readReasons()).toSorted()).toEqual(['current', 'until resolved'])
    await fixture.database.system('test', tx =>
      tx
        .update(incident)
        .set({ resolved_at: new Date() })
        .where(eq(incident.channel_id, fixture.channel_id)),
    )
    await run(now + 5 * minute)
    expect(await readReasons()).toEqual(['current'])
  })
})
