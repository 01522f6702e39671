import { randomBytes } from 'node:crypto'
import { asc, eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTeller, type HeardEngine } from '../../../test/fixtures/heard-channel.ts'
import { useHeardDatabase } from '../../../test/fixtures/heard-database.ts'
import type { TestDatabase } from '../../../test/fixtures/management-database.ts'
import { alert, channel, event, notification, picture } from '../db/schema/index.ts'
import type { Ingest } from '../events/ingest/ingest-port.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

let its: TestDatabase
let ingest: Ingest
let heard: HeardEngine
let channel_id: string
let sha256: string
useHeardDatabase(here => {
  ;({ its, ingest, heard, channel_id } = here)
})
beforeEach(() => {
  sha256 = randomBytes(32).toString('hex')
})

const rows = () =>
  its.database.system('test', tx =>
    tx.select().from(event).where(eq(event.engine_id, heard.engine_id)).orderBy(asc(event.seq)),
  )
const notifications = () =>
  its.database.system('test', tx =>
    tx
      .select()
      .from(notification)
      .where(eq(notification.channel_id, channel_id))
      .orderBy(asc(notification.notification_time)),
  )

async function insertAlert(fields: Partial<typeof alert.$inferInsert>): Promise<string> {
  const alert_id = v7()
  await its.database.system('test', tx =>
    tx.insert(alert).values({
      alert_id,
      channel_id,
      alert_name: 'Crowd',
      alert_priority: 'high',
      alert_threshold: '2',
      alert_threshold_condition: 'gt',
      alert_threshold_key: 'up',
      alert_frequency: 0,
      alert_actions: [{ action_type: 'email', action_to: 'ops@example.com', action_subject: '{{value}}' }],
      ...fields,
    }),
  )
  return alert_id
}

describe('an alert', () => {
  const crowd = (teller: ReturnType<typeof createTeller>, events: number) =>
    Array.from({ length: events }, (_, n) => teller.crossing(1, begin + n * 10 * second))

  it.each([1, 3, 100])('fires with the same messages, though they come %d at a time', async size => {
    await insertAlert({})
    const teller = createTeller()
    const told = crowd(teller, 12)
    await ingest.consume(heard.engine_id, [teller.hello()])
    for (let from = 0; from < told.length; from += size)
      await ingest.consume(heard.engine_id, told.slice(from, from + size))
    // In sixty seconds lie six of them.
    const values = (await notifications()).map(({ notification_time, value }) => [
      (notification_time.getTime() - begin) / second,
      value,
    ])
    expect(values).toEqual([[20, 3], [30, 4], [40, 5], ...[50, 60, 70, 80, 90, 100, 110].map(at => [at, 6])])
  })

  it('fires as often as its frequency allows, though the same messages come again', async () => {
    await insertAlert({ alert_frequency: 30 })
    const teller = createTeller()
    const told = [teller.hello(), ...crowd(teller, 12)]
    await ingest.consume(heard.engine_id, told)
    await ingest.consume(heard.engine_id, told)
    const fired = (await notifications()).map(
      ({ notification_time }) => (notification_time.getTime() - begin) / second,
    )
    expect(fired).toEqual([20, 50, 80, 110])
  })

  it('does not fire while it is not active, or on what does not bear on it', async () => {
    await insertAlert({ is_active: false })
    await insertAlert({ alert_threshold_key: 'down', alert_threshold_condition: 'gte', alert_threshold: '0' })
    const teller = createTeller()
    await ingest.consume(heard.engine_id, [teller.hello(), ...crowd(teller, 6)])
    expect(await notifications()).toEqual([])
  })

  it('does not fire on a count that tells once more what it told before', async () => {
    await insertAlert({ alert_threshold_key: 'violation', alert_threshold: '0' })
    const { hello, tell } = createTeller()
    const count = (at: number, violation: number, non_violation: number) =>
      tell('count', 1, begin + at * second, { distance: { violation, non_violation } })
    await ingest.consume(heard.engine_id, [hello(), count(0, 0, 0), count(1, 2, 0), count(2, 2, 1)])
    expect((await notifications()).map(({ value }) => value)).toEqual([2])
  })

  it('over a day sees what lies far back', async () => {
    await its.database.system('test', tx =>
      tx
        .update(channel)
        .set({ channel_threshold_duration: 86_400 })
        .where(eq(channel.channel_id, channel_id)),
    )
    await insertAlert({ alert_threshold: '4' })
    const teller = createTeller()
    const hour = 3_600_000
    const told = [0, 5, 10, 23, 23.5, 24.5, 24.6].map(hours => teller.crossing(1, begin + hours * hour))
    await ingest.consume(heard.engine_id, [teller.hello(), ...told.slice(0, 4)])
    await ingest.consume(heard.engine_id, told.slice(4))
    const fired = (await notifications()).map(({ notification_time, value }) => [
      (notification_time.getTime() - begin) / hour,
      value,
    ])
    expect(fired).toEqual([
      [23.5, 5],
      [24.5, 5],
      [24.6, 6],
    ])
  })

  it('tells of the frame of its event, in the words of its actions', async () => {
    const alert_id = await insertAlert({ alert_threshold_condition: 'eq', alert_threshold: '1' })
    const { hello, crossing } = createTeller()
    await ingest.consume(heard.engine_id, [hello(), crossing(1, begin, 'up', { picture: sha256 })])
    expect(await notifications()).toMatchObject([
      {
        alert_id,
        usecase_key: 'line-crossing',
        value: 1,
        picture: sha256,
        notification_data: { to: 'ops@example.com', subject: '1', from: '' },
        deliveries: [{ type: 'email', to: 'ops@example.com', subject: '1' }],
      },
    ])
  })
})

describe('the picture of an event', () => {
  const pictures = () =>
    its.database.system('test', tx => tx.select().from(picture).where(eq(picture.engine_id, heard.engine_id)))

  it.each(['with it', 'after it'])('that comes %s becomes that of event and notification', async when => {
    await insertAlert({ alert_threshold_condition: 'eq', alert_threshold: '1' })
    const { hello, crossing, tell } = createTeller()
    const told = [
      hello(),
      crossing(1, begin),
      crossing(1, begin + second),
      tell('picture', 1, begin, { picture: sha256 }),
    ]
    if (when === 'with it') await ingest.consume(heard.engine_id, told)
    else for (const each of told) await ingest.consume(heard.engine_id, [each])
    expect((await rows()).map(row => row.picture)).toEqual([sha256, null])
    expect((await notifications()).map(row => row.picture)).toEqual([sha256])
    expect(await pictures()).toMatchObject([{ sha256, is_stored: false, attempts: 0 }])
  })

  it('is that of the newest one, though it comes after the count that fires and another stands in for it', async () => {
    const own = randomBytes(32).toString('hex')
    await insertAlert({ alert_threshold_key: 'occupancy', alert_threshold: '4' })
    const { hello, tell, occupancy } = createTeller()
    const enter = (at: number, more = {}) =>
      tell('event', 1, begin + at * second, { type: 'zone-enter', name: 'hall', ...more })
    await ingest.consume(heard.engine_id, [hello(), enter(0, { picture: sha256 })])
    await ingest.consume(heard.engine_id, [enter(30), occupancy(1, begin + 30 * second, 5)])
    expect((await notifications()).map(row => row.picture)).toEqual([sha256])
    await ingest.consume(heard.engine_id, [tell('picture', 1, begin + 30 * second, { picture: own })])
    expect((await notifications()).map(row => row.picture)).toEqual([own])
    expect((await pictures()).map(row => row.sha256).sort()).toEqual([own, sha256].sort())
  })

  it('is fetched only where a notification needs it', async () => {
    const { hello, crossing } = createTeller()
    await ingest.consume(heard.engine_id, [hello(), crossing(1, begin, 'up', { picture: sha256 })])
    expect((await rows()).map(row => row.picture)).toEqual([sha256])
    expect(await pictures()).toEqual([])
  })
})
