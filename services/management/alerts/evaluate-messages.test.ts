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
const sha256Of = () => sha256
beforeEach(() => {
  sha256 = randomBytes(32).toString('hex')
})

async function insertAlert(fields: Partial<typeof alert.$inferInsert>): Promise<string> {
  const alertId = v7()
  await fixture.database.system('test', tx =>
    tx.insert(alert).values({
      alert_id: alertId,
      channel_id: fixture.channel_id,
      alert_name: 'Crowd',
      alert_priority: 'high',
      alert_threshold: '2',
      alert_threshold_condition: 'gt',
      alert_threshold_key: 'up',
      alert_frequency: 0,
      alert_actions: [
        { action_type: 'email', action_to: 'ops@example.com', action_subject: '{{value}}' },
      ],
      ...fields,
    }),
  )
  return alertId
}

describe('alert evaluation by messages', () => {
  const createCrossings = (factory: ReturnType<typeof createMessageFactory>, events: number) =>
    Array.from({ length: events }, (_, index) => factory.crossing(1, begin + index * 10 * second))

  it.each([1, 3, 100])('fires on the same messages in batches of %d', async size => {
    await insertAlert({})
    const factory = createMessageFactory()
    const messages = createCrossings(factory, 12)
    await fixture.consume([factory.hello()])
    for (let from = 0; from < messages.length; from += size) {
      await fixture.consume(messages.slice(from, from + size))
    }
    // The window of sixty seconds contains six of them.
    const values = (await fixture.readNotifications()).map(
      ({ notification_time: notificationTime, value }) => [
        (notificationTime.getTime() - begin) / second,
        value,
      ],
    )
    expect(values).toEqual([
      [20, 3],
      [30, 4],
      [40, 5],
      ...[50, 60, 70, 80, 90, 100, 110].map(at => [at, 6]),
    ])
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
    await insertAlert({
      alert_threshold_key: 'down',
      alert_threshold_condition: 'gte',
      alert_threshold: '0',
    })
    const factory = createMessageFactory()
    await fixture.consume([factory.hello(), ...createCrossings(factory, 6)])
    expect(await fixture.readNotifications()).toEqual([])
  })

  it('does not fire on an unchanged counter that a message repeats', async () => {
    await insertAlert({ alert_threshold_key: 'violation', alert_threshold: '0' })
    const { hello, message } = createMessageFactory()
    const count = (at: number, violation: number, nonViolation: number) =>
      message('count', 1, begin + at * second, {
        distance: { violation, non_violation: nonViolation },
      })
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
    const messages = [0, 5, 10, 23, 23.5, 24.5, 24.6].map(hours =>
      factory.crossing(1, begin + hours * hour),
    )
    await fixture.consume([factory.hello(), ...messages.slice(0, 4)])
    await fixture.consume(messages.slice(4))
    const fired = (await fixture.readNotifications()).map(
      ({ notification_time: notificationTime, value }) => [
        (notificationTime.getTime() - begin) / hour,
        value,
      ],
    )
    expect(fired).toEqual([
      [23.5, 5],
      [24.5, 5],
      [24.6, 6],
    ])
  })

  it('stores the picture of the event and the texts of the actions', async () => {
    const alertId = await insertAlert({ alert_threshold_condition: 'eq', alert_threshold: '1' })
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin, 'up', { picture: sha256 })])
    expect(await fixture.readNotifications()).toMatchObject([
      {
        alert_id: alertId,
        usecase_key: 'line-crossing',
        value: 1,
        picture: sha256,
        notification_data: { to: 'ops@example.com', subject: '1', from: '' },
      },
    ])
  })
})

describe('box of a notification', () => {
  const bbox = { x: 0.1, y: 0.2, w: 0.3, h: 0.4 }
  const readBoxes = async () => (await fixture.readNotifications()).map(row => row.bbox)

  it('is that of the event that fired the alert', async () => {
    await insertAlert({ alert_threshold_condition: 'eq', alert_threshold: '1' })
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin, 'up', { bbox })])
    expect(await readBoxes()).toEqual([bbox])
  })

  it('is that of the event behind a count, if the count follows within 100 ms', async () => {
    await insertAlert({ alert_threshold_key: 'occupancy', alert_threshold: '0' })
    const { hello, message, occupancy } = createMessageFactory()
    const enter = message('event', 1, begin, { type: 'zone-enter', name: 'hall', bbox })
    await fixture.consume([
      hello(),
      enter,
      occupancy(1, begin + 100, 1),
      occupancy(1, begin + 201, 2),
    ])
    expect(await readBoxes()).toEqual([bbox, null])
  })
})

describe('event picture', () => {
  const readPictures = () =>
    fixture.database.system('test', tx =>
      tx.select().from(picture).where(eq(picture.engine_id, fixture.engine.engine_id)),
    )

  it.each(['with', 'after'])('is attached when it arrives %s the event', async when => {
    await insertAlert({ alert_threshold_condition: 'gte', alert_threshold: '1' })
    const { hello, crossing, message } = createMessageFactory()
    const messages = [
      hello(),
      crossing(1, begin),
      crossing(1, begin + 5 * second),
      message('picture', 1, begin, { picture: sha256 }),
    ]
    if (when === 'with') await fixture.consume(messages)
    else for (const message of messages) await fixture.consume([message])
    expect((await fixture.readEvents()).map(row => row.picture)).toEqual([sha256, null])
    expect(await fixture.readNotifications()).toMatchObject([
      { picture: sha256, picture_offset: 0, next_snapshot: null },
      { picture: null, picture_offset: null, next_snapshot: expect.any(Date) },
    ])
    expect(await readPictures()).toMatchObject([{ sha256, is_stored: false, attempts: 0 }])
  })

  it('is attached to the notifications of all events that share it, with the time between', async () => {
    await insertAlert({ alert_threshold_condition: 'gte', alert_threshold: '1' })
    const { hello, crossing, message } = createMessageFactory()
    const late = begin + 800
    await fixture.consume([
      hello(),
      crossing(1, begin, 'up', { picture: sha256 }),
      crossing(1, begin + 400, 'up', { picture: sha256, picture_offset: -400 }),
      crossing(1, late),
    ])
    await fixture.consume([message('picture', 1, late, { picture: sha256, picture_offset: -800 })])
    const offsets = (rows: { picture: string | null; picture_offset: number | null }[]) =>
      rows.map(({ picture, picture_offset }) => [picture, picture_offset])
    expect(offsets(await fixture.readEvents())).toEqual([
      [sha256, null],
      [sha256, -400],
      [sha256, -800],
    ])
    expect(offsets(await fixture.readNotifications())).toEqual([
      [sha256, 0],
      [sha256, -400],
      [sha256, -800],
    ])
  })

  it.each([
    [1000, sha256Of],
    [1001, () => null],
  ])(
    'of another event %d ms away is attached only within a second',
    async (distanceMs, expected) => {
      await insertAlert({ alert_threshold_key: 'occupancy', alert_threshold: '4' })
      const { hello, message, occupancy } = createMessageFactory()
      const enter = message('event', 1, begin, {
        type: 'zone-enter',
        name: 'hall',
        picture: sha256,
      })
      await fixture.consume([hello(), enter, occupancy(1, begin + distanceMs, 5)])
      expect((await fixture.readNotifications()).map(row => row.picture)).toEqual([expected()])
    },
  )

  it('replaces one that is farther from the notification', async () => {
    const nearer = randomBytes(32).toString('hex')
    await insertAlert({ alert_threshold_key: 'occupancy', alert_threshold: '4' })
    const { hello, message, occupancy } = createMessageFactory()
    const enter = (atMs: number, picture: string) =>
      message('event', 1, begin + atMs, { type: 'zone-enter', name: 'hall', picture })
    await fixture.consume([hello(), enter(0, sha256), occupancy(1, begin + 900, 5)])
    expect(await fixture.readNotifications()).toMatchObject([
      { picture: sha256, picture_offset: -900 },
    ])
    await fixture.consume([enter(1000, nearer)])
    expect(await fixture.readNotifications()).toMatchObject([
      { picture: nearer, picture_offset: 100 },
    ])
    await fixture.consume([enter(1100, sha256)])
    expect(await fixture.readNotifications()).toMatchObject([
      { picture: nearer, picture_offset: 100 },
    ])
    expect((await readPictures()).map(row => row.sha256).sort()).toEqual([nearer, sha256].sort())
  })

  it('is fetched only if a notification requires it', async () => {
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin, 'up', { picture: sha256 })])
    expect((await fixture.readEvents()).map(row => row.picture)).toEqual([sha256])
    expect(await readPictures()).toEqual([])
  })
})
