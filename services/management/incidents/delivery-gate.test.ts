import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../test/fixtures/management/engine-messages.ts'
import {
  insertAlert,
  readChannelDeliveries,
  readIncidents,
} from '../../../test/fixtures/management/incident-records.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { delivery, incident, pushSubscription, role, snooze, user } from '../db/schema/index.ts'

const BEGIN = Date.parse('2026-03-04T12:00:00Z')
const HOUR_MS = 3_600_000

const fixture = useIngestDatabase()
const insert = (
  ...options: [Parameters<typeof insertAlert>[2]?, Parameters<typeof insertAlert>[3]?]
) => insertAlert(fixture.database, fixture.channel_id, ...options)

const createCounter = () => {
  const { hello, occupancy } = createMessageFactory()
  const greeting = fixture.consume([hello()])
  /** Ingests a count of six people at each of these seconds. */
  return async (...seconds: number[]) => {
    await greeting
    await fixture.consume(seconds.map(at => occupancy(1, BEGIN + at * 1000, 6)))
  }
}

const readDeliveries = () => readChannelDeliveries(fixture.database, fixture.channel_id)
const readStates = async () => (await readDeliveries()).map(({ state }) => state)
const updateIncident = (fields: Partial<typeof incident.$inferInsert>) =>
  fixture.database.system('test', tx =>
    tx.update(incident).set(fields).where(eq(incident.channel_id, fixture.channel_id)),
  )
const SENT = 'queued'
const KEPT = 'suppressed'

describe('messages about one incident', () => {
  it('are one message, and the others are stored with the reason', async () => {
    await insert()
    await createCounter()(0, 1, 2)
    const [first, second, third] = await readDeliveries()
    expect([first!.state, second!.state, third!.state]).toEqual([SENT, KEPT, KEPT])
    expect(second).toMatchObject({
      kind: 'notification',
      incident_id: first!.incident_id,
      reason: 'belongs to the incident that was reported at 2026-03-04T12:00:00.000Z',
      next_attempt_at: null,
      digest_at: null,
      finished_at: expect.any(Date),
    })
    expect(await fixture.readNotifications()).toHaveLength(3)
  })

  it('are repeated at most as often as the policy says', async () => {
    await insert({}, { repeat_s: 60 })
    await createCounter()(0, 59, 60, 119, 120)
    expect(await readStates()).toEqual([SENT, KEPT, SENT, KEPT, SENT])
  })

  it('are all sent where the policy says so, and to machines', async () => {
    await insert({}, { repeat_s: 0 })
    await insert({ alert_actions: [{ action_type: 'mqtt', action_url: 'mqtt://broker.example' }] })
    await createCounter()(0, 1, 2)
    expect(await readStates()).toEqual(Array(6).fill(SENT))
  })

  it.each([
    [
      { acknowledged_at: new Date(), acknowledged_by: 'a@b' },
      'the incident was acknowledged by a@b',
    ],
    [
      { resolved_at: new Date(), resolved_by: 'a@b' },
      'the incident was resolved by a@b, and its condition goes on to hold',
    ],
  ])('end when a person takes care of it: %j', async (fields, reason) => {
    await insert({}, { repeat_s: 0 })
    const count = createCounter()
    await count(0)
    await updateIncident(fields)
    await count(1)
    expect((await readDeliveries())[1]).toMatchObject({ state: KEPT, reason })
  })
})

describe('a snooze', () => {
  const insertSnooze = (fields: Partial<typeof snooze.$inferInsert> = {}) =>
    fixture.database.system('test', tx =>
      tx.insert(snooze).values({
        site_id: fixture.engine.site_id,
        until: new Date(Date.now() + HOUR_MS),
        created_by: 'a@b',
        ...fields,
      }),
    )

  it.each(['site', 'channel', 'alert'] as const)(
    'of the %s keeps its messages from people and machines',
    async scope => {
      const alertId = await insert({ alert_actions: [{ action_type: 'mqtt' }, {}] })
      const { channel_id: channelId } = fixture
      await insertSnooze({
        ...(scope !== 'site' && { channel_id: channelId }),
        ...(scope === 'alert' && { alert_id: alertId }),
      })
      await createCounter()(0)
      const deliveries = await readDeliveries()
      expect(deliveries.map(({ state }) => state)).toEqual([KEPT, KEPT])
      expect(deliveries[0]!.reason).toMatch(/^snoozed until 20.*Z, by a@b$/)
      expect(await readIncidents(fixture.database, channelId)).toMatchObject([
        { count: 1, notified_at: null, escalates_at: null },
      ])
    },
  )

  it('does not concern other alerts of the channel', async () => {
    const alertId = await insert()
    await insertSnooze({ channel_id: fixture.channel_id, alert_id: alertId })
    await insert()
    await createCounter()(0)
    expect((await readStates()).toSorted()).toEqual([SENT, KEPT])
  })

  it('that is over lets the next notification of a running incident through', async () => {
    await insert()
    await insertSnooze()
    const count = createCounter()
    await count(0)
    await fixture.database.system('test', tx => tx.update(snooze).set({ until: new Date() }))
    await count(1, 2)
    expect(await readStates()).toEqual([KEPT, SENT, KEPT])
  })

  it('until the incident is resolved ends with that incident', async () => {
    await insert({}, { quiet_s: 0, repeat_s: 0 })
    const { hello, occupancy } = createMessageFactory()
    await fixture.consume([hello(), occupancy(1, BEGIN, 6)])
    await insertSnooze({ until: null })
    await fixture.consume([occupancy(1, BEGIN + 1000, 6)])
    expect((await readDeliveries())[1]).toMatchObject({
      state: KEPT,
      reason: 'snoozed until the incident is resolved, by a@b',
    })
    await updateIncident({ ended_at: new Date() })
    await fixture.consume([occupancy(1, BEGIN + 2000, 6)])
    expect(await readStates()).toEqual([SENT, KEPT, SENT])
  })
})

describe('the budget of a receiver', () => {
  const toOps = { alert_actions: [{ action_to: 'ops@example.com' }] }
  const repeated = { repeat_s: 0, budget_per_hour: 2 }
  const seconds = [0, 1, 2, 3]
  const clear = () =>
    fixture.database.system('test', async tx => {
      await tx.delete(delivery)
      await tx.delete(pushSubscription)
    })

  const readStatesTo = async (recipient: string) => {
    const rows = await readDeliveries()
    return rows.filter(row => row.recipient === recipient).map(({ state }) => state)
  }

  /** Inserts a user who receives messages in some browsers. Returns the e-mail address. */
  const insertUser = (browsers: number) =>
    fixture.database.system('test', async tx => {
      const [superadmin] = await tx.select().from(role).where(eq(role.role_key, 'superadmin'))
      const userId = v7()
      const email = `${userId}@example.com`
      await tx.insert(user).values({
        user_id: userId,
        email,
        first_name: '',
        last_name: '',
        user_name: email,
        role_id: superadmin!.role_id,
        is_verified: true,
        password_hash: 'none',
      })
      const subscriptions = Array.from({ length: browsers }, () => {
        const endpoint = `https://push.example/${v7()}`
        return { user_id: userId, endpoint, p256dh: 'key', auth: 'secret', label: '' }
      })
      await tx.insert(pushSubscription).values(subscriptions)
      return email
    })

  it('limits its messages, and the others wait for a digest', async () => {
    await clear()
    await insert(toOps, repeated)
    await createCounter()(...seconds)
    const deliveries = await readDeliveries()
    expect(deliveries.map(({ state }) => state)).toEqual([SENT, SENT, KEPT, KEPT])
    expect(deliveries[2]).toMatchObject({
      reason: 'the budget of 2 messages per hour to this receiver is used up: a digest follows',
    })
    const digestMs = deliveries[2]!.digest_at!.getTime() - deliveries[0]!.created_at.getTime()
    expect(Math.abs(digestMs - HOUR_MS)).toBeLessThan(60_000)
  })

  it('counts the messages of all alerts to it, also over several transactions, and only of the last hour', async () => {
    await clear()
    await insert(toOps, repeated)
    await insert(toOps, repeated)
    await insert({ alert_actions: [{ action_to: 'other@example.com' }] }, repeated)
    const count = createCounter()
    await count(0)
    await count(1)
    expect(await readStatesTo('ops@example.com')).toEqual([SENT, SENT, KEPT, KEPT])
    expect(await readStatesTo('other@example.com')).toEqual([SENT, SENT])
    const anHourAgo = new Date(Date.now() - HOUR_MS)
    await fixture.database.system('test', tx => tx.update(delivery).set({ created_at: anHourAgo }))
    await count(2)
    expect(await readStatesTo('ops@example.com')).toEqual([SENT, SENT, KEPT, KEPT, SENT, SENT])
  })

  it('is one of each number that an SMS goes to', async () => {
    await clear()
    const [both, second] = ['+41790000001, +41790000002', '+41790000002'].map(numbers => ({
      alert_actions: [{ action_type: 'sms' as const, action_to: numbers }],
    }))
    await insert(both, repeated)
    const count = createCounter()
    await count(0)
    await insert(second, repeated)
    await count(1)
    await count(2)
    expect(await readStatesTo('+41790000001')).toEqual([SENT, SENT, KEPT])
    expect(await readStatesTo('+41790000002')).toEqual([SENT, SENT, KEPT, KEPT, KEPT])
  })

  it('is one of each user whom a push message goes to, with any number of browsers', async () => {
    await clear()
    const [first, second] = [await insertUser(2), await insertUser(1)]
    await insert({ alert_actions: [{ action_type: 'push' }] }, repeated)
    const count = createCounter()
    await count(0)
    await count(1)
    await count(2)
    const twoBrowsers = [SENT, SENT, SENT, SENT, KEPT]
    expect(await readStatesTo(first)).toEqual(twoBrowsers)
    expect(await readStatesTo(second)).toEqual([SENT, SENT, KEPT])
  })

  it('is not used up by messages of a time at which the clock was ahead', async () => {
    await clear()
    await insert(toOps, repeated)
    const count = createCounter()
    await count(0, 1)
    const tomorrow = new Date(Date.now() + 24 * HOUR_MS)
    await fixture.database.system('test', tx => tx.update(delivery).set({ created_at: tomorrow }))
    await count(2)
    expect(await readStatesTo('ops@example.com')).toEqual([SENT, SENT, SENT])
  })

  it('is 20 unless the policy says otherwise, and unlimited for critical alerts', async () => {
    await clear()
    await insert(toOps, { repeat_s: 0 })
    await insert({ ...toOps, alert_priority: 'critical' }, { repeat_s: 0 })
    await createCounter()(...Array.from({ length: 25 }, (_, i) => i))
    const deliveries = await readDeliveries()
    const [high = [], critical = []] = ['high', 'critical'].map(priority =>
      deliveries.filter(({ request }) => request.details.alert_priority === priority),
    )
    expect(critical.map(({ state }) => state)).toEqual(Array(25).fill(SENT))
    // Messages of critical alerts use the budget too.
    expect(high.filter(({ state }) => state === SENT).length).toBeLessThanOrEqual(20)
    expect(high.filter(({ state }) => state === KEPT).length).toBeGreaterThanOrEqual(5)
  })
})
