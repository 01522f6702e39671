import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { alert, channel, picture } from '../db/schema/index.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

const fixture = useIngestDatabase()
let sha256: string
beforeEach(() => {
  sha256 = randomBytes(32).toString('hex')
})

async function insertAlert(fields: Partial<typeof alert.$inferInsert>): Promise<string> {
  const alert_id = v7()
  await fixture.database.system('test', tx =>
    tx.insert(alert).values({
      alert_id,
      channel_id: fixture.channel_id,
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

describe('alert evaluation by messages', () => {
  const createCrossings = (factory: ReturnType<typeof createMessageFactory>, events: number) =>
    Array.from({ length: events }, (_, index) => factory.crossing(1, begin + index * 10 * second))

  it.each([1, 3, 100])('fires on the same messages in batches of %d', async size => {
    await insertAlert({})
    const factory = createMessageFactory()
    const messages = createCrossings(factory, 12)
    await fixture.consume([factory.hello()])
    for (let from = 0; from < messages.length; from += size)
      await fixture.consume(messages.slice(from, from + size))
    // The window of sixty seconds contains six of them.
    const values = (await fixture.readNotifications()).map(({ notification_time, value }) => [
      (notification_time.getTime() - begin) / second,
      value,
    ])
    expect(values).toEqual([[20, 3], [30, 4], [40, 5], ...[50, 60, 70, 80, 90, 100, 110].map(at => [at, 6])])
  })

  it('is limited by the frequency and ignores repeated messages', async () => {
    await insertAlert({ alert_frequency: 30 })
    const factory = createMessageFactory()
    const messages = [factory.hello(), ...createCrossings(factory, 12)]
    await fixture.consume(messages)
    await fixture.consume(messages)
    const fired = (await fixture.readNotifications()).map(
      ({ notification_time }) => (notification_time.getTime() - begin) / second,
    )
    expect(fired).toEqual([20, 50, 80, 110])
  })

  it('does not fire for inactive alerts or unrelated messages', async () => {
    await insertAlert({ is_active: false })
    await insertAlert({ alert_threshold_key: 'down', alert_threshold_condition: 'gte', alert_threshold: '0' })
    const factory = createMessageFactory()
    await fixture.consume([factory.hello(), ...createCrossings(factory, 6)])
    expect(await fixture.readNotifications()).toEqual([])
  })

  it('does not fire on an unchanged counter that a message repeats', async () => {
    await insertAlert({ alert_threshold_key: 'violation', alert_threshold: '0' })
    const { hello, message } = createMessageFactory()
    const count = (at: number, violation: number, non_violation: number) =>
      message('count', 1, begin + at * second, { distance: { violation, non_violation } })
    await fixture.consume([hello(), count(0, 0, 0), count(1, 2, 0), count(2, 2, 1)])
    expect((await fixture.readNotifications()).map(({ value }) => value)).toEqual([2])
  })

  it('includes old events in a window of a day', async () => {
    await fixture.database.system('test', tx =>
      tx
        .update(channel)
        .set({ channel_threshold_duration: 86_400 })
        .where(eq(channel.channel_id, fixture.channel_id)),
    )
    await insertAlert({ alert_threshold: '4' })
    const factory = createMessageFactory()
    const hour = 3_600_000
    const messages = [0, 5, 10, 23, 23.5, 24.5, 24.6].map(hours => factory.crossing(1, begin + hours * hour))
    await fixture.consume([factory.hello(), ...messages.slice(0, 4)])
    await fixture.consume(messages.slice(4))
    const fired = (await fixture.readNotifications()).map(({ notification_time, value }) => [
      (notification_time.getTime() - begin) / hour,
      value,
    ])
    expect(fired).toEqual([
      [23.5, 5],
      [24.5, 5],
      [24.6, 6],
    ])
  })

  it('stores the picture of the event and the texts of the actions', async () => {
    const alert_id = await insertAlert({ alert_threshold_condition: 'eq', alert_threshold: '1' })
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin, 'up', { picture: sha256 })])
    expect(await fixture.readNotifications()).toMatchObject([
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

describe('event picture', () => {
  const readPictures = () =>
    fixture.database.system('test', tx =>
      tx.select().from(picture).where(eq(picture.engine_id, fixture.engine.engine_id)),
    )

  it.each(['with', 'after'])(
    'is attached to event and notification when it arrives %s the event',
    async when => {
      await insertAlert({ alert_threshold_condition: 'eq', alert_threshold: '1' })
      const { hello, crossing, message } = createMessageFactory()
      const messages = [
        hello(),
        crossing(1, begin),
        crossing(1, begin + second),
        message('picture', 1, begin, { picture: sha256 }),
      ]
      if (when === 'with') await fixture.consume(messages)
      else for (const message of messages) await fixture.consume([message])
      expect((await fixture.readEvents()).map(row => row.picture)).toEqual([sha256, null])
      expect((await fixture.readNotifications()).map(row => row.picture)).toEqual([sha256])
      expect(await readPictures()).toMatchObject([{ sha256, is_stored: false, attempts: 0 }])
    },
  )

  it('replaces the older picture that a notification has used in the meantime', async () => {
    const ownPicture = randomBytes(32).toString('hex')
    await insertAlert({ alert_threshold_key: 'occupancy', alert_threshold: '4' })
    const { hello, message, occupancy } = createMessageFactory()
    const enter = (at: number, more = {}) =>
      message('event', 1, begin + at * second, { type: 'zone-enter', name: 'hall', ...more })
    await fixture.consume([hello(), enter(0, { picture: sha256 })])
    await fixture.consume([enter(30), occupancy(1, begin + 30 * second, 5)])
    expect((await fixture.readNotifications()).map(row => row.picture)).toEqual([sha256])
    await fixture.consume([message('picture', 1, begin + 30 * second, { picture: ownPicture })])
    expect((await fixture.readNotifications()).map(row => row.picture)).toEqual([ownPicture])
    expect((await readPictures()).map(row => row.sha256).sort()).toEqual([ownPicture, sha256].sort())
  })

  it('is fetched only if a notification requires it', async () => {
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin, 'up', { picture: sha256 })])
    expect((await fixture.readEvents()).map(row => row.picture)).toEqual([sha256])
    expect(await readPictures()).toEqual([])
  })
})
