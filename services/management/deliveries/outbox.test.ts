import { createHash, randomBytes } from 'node:crypto'
import type { AlertAction } from '@eyrie/contract/management/alert'
import { createLog } from '@eyrie/kit'
import { eq, isNotNull, sql } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { alert, delivery, notification, setting } from '../db/schema/index.ts'
import { fetchSnapshots } from '../events/pictures/notification-snapshots.ts'
import { fetchPictures } from '../events/pictures/picture-fetcher.ts'
import type { Snapshot } from '../events/pictures/picture-source.ts'
import { createPictureStore } from '../events/pictures/picture-store.ts'

const BEGIN = Date.parse('2026-03-04T12:00:00Z')

const fixture = useIngestDatabase()
beforeEach(() =>
  fixture.database.system('test', async tx => {
    await tx.delete(setting)
    await tx.insert(setting).values({ name: 'smtp', value: { smtp_attachment: true } })
  }),
)

/**
 * Lets an alert with these actions fire once. Returns its deliveries in the order of the actions.
 */
async function fire(alertActions: AlertAction[], picture?: string) {
  await fixture.database.system('test', tx =>
    tx.insert(alert).values({
      alert_id: v7(),
      channel_id: fixture.channel_id,
      alert_name: 'Crowd',
      alert_priority: 'high',
      alert_threshold: '1',
      alert_threshold_condition: 'eq',
      alert_threshold_key: 'up',
      alert_frequency: 0,
      alert_actions: alertActions,
    }),
  )
  const { hello, crossing } = createMessageFactory()
  await fixture.consume([hello(), crossing(1, BEGIN, 'up', picture ? { picture } : {})])
  return readDeliveries()
}

const readDeliveries = () =>
  fixture.database.system('test', tx =>
    tx
      .select()
      .from(delivery)
      .where(eq(delivery.channel_id, fixture.channel_id))
      .orderBy(delivery.delivery_id),
  )

/** Time from the creation of a delivery until it is due. */
const readDelayMs = ({ next_attempt_at, created_at }: typeof delivery.$inferSelect) =>
  next_attempt_at!.getTime() - created_at.getTime()

describe('an alert that fires', () => {
  it('stores one delivery for each action, with its texts and without secrets in what people see', async () => {
    const deliveries = await fire([
      { action_type: 'email', action_to: 'ops@example.com', action_subject: '{{value}} {{key}}' },
      { action_url: 'https://hooks.example/secret?key=secret', action_process_delay: 30 },
      { action_type: 'webhook', action_url: 'user:secret@hooks.example/x' },
      { action_type: 'mqtt', action_url: 'mqtts://broker.example:8883/x' },
      { action_type: 'sms', action_to: '+41' },
    ])
    const [notification] = await fixture.readNotifications()
    expect(deliveries.map(({ type, recipient }) => [type, recipient])).toEqual([
      ['email', 'ops@example.com'],
      ['webhook', 'hooks.example'],
      ['webhook', 'hooks.example'],
      ['mqtt', 'broker.example:8883'],
      ['sms', '+41'],
    ])
    // The e-mail waits for its picture.
    expect(deliveries.map(readDelayMs)).toEqual([3000, 30_000, 0, 0, 0])
    expect(deliveries[0]).toMatchObject({
      notification_uuid: notification!.notification_uuid,
      alert_id: notification!.alert_id,
      state: 'queued',
      request: { subject: '1 up', details: { alert_name: 'Crowd', value: 1 } },
    })
  })

  it('stores no delivery without actions', async () => {
    expect(await fire([])).toEqual([])
    expect(await fixture.readNotifications()).toHaveLength(1)
  })
})

describe('a delivery that contains a picture', () => {
  const jpeg = randomBytes(100)
  const sha256 = createHash('sha256').update(jpeg).digest('hex')
  const fetch = () =>
    fetchPictures({
      database: fixture.database,
      source: { fetch: async () => new Uint8Array(jpeg) },
      store: createPictureStore(createTemporaryFolder()),
      log: createLog('test', 'silent'),
      signal: new AbortController().signal,
    })

  const actions: AlertAction[] = [
    { action_type: 'email' },
    { action_url: 'https://hooks.example/inline', action_picture: 'inline' },
    { action_url: 'https://hooks.example/link' },
  ]

  it('waits a few seconds for it, and is due as soon as it is stored', async () => {
    const deliveries = await fire(actions, sha256)
    expect(deliveries.map(readDelayMs)).toEqual([3000, 3000, 0])
    await fetch()
    const released = await readDeliveries()
    expect(released.map(({ awaits_picture }) => awaits_picture)).toEqual([false, false, false])
    expect(released[0]!.next_attempt_at!.getTime()).toBeLessThanOrEqual(Date.now())
  })

  it('does not wait for a picture that is stored already', async () => {
    expect((await fire(actions, sha256)).map(readDelayMs)).toEqual([0, 0, 0])
  })

  /**
   * Asks the engine for the snapshots of notifications, as if their events had waited long enough.
   * `snapshot`: its answer.
   */
  async function fetchSnapshot(snapshot?: Snapshot) {
    await fixture.database.system('test', tx =>
      tx
        .update(notification)
        .set({ next_snapshot: sql`now() - interval '1 second'` })
        .where(isNotNull(notification.next_snapshot)),
    )
    await fetchSnapshots({
      database: fixture.database,
      source: { fetchSnapshot: async () => snapshot },
      store: createPictureStore(createTemporaryFolder()),
      log: createLog('test', 'silent'),
      signal: new AbortController().signal,
    })
  }

  it.each([
    ['is stored', { jpeg: randomBytes(100), takenMs: BEGIN }],
    ['turns out not to exist', undefined],
  ])(
    'waits for the snapshot if no event has a picture, and is due as soon as it %s',
    async (_, snapshot) => {
      const deliveries = await fire(actions)
      expect(deliveries.map(readDelayMs)).toEqual([3000, 3000, 0])
      await fetchSnapshot(snapshot)
      const released = await readDeliveries()
      expect(released.map(({ awaits_picture }) => awaits_picture)).toEqual([false, false, false])
      expect(released[0]!.next_attempt_at!.getTime()).toBeLessThanOrEqual(Date.now())
      const [stored] = await fixture.readNotifications()
      expect(stored!.picture !== null).toBe(snapshot !== undefined)
    },
  )

  it('that waits for the snapshot is due when a picture is attached that is stored already', async () => {
    await fire(actions)
    const { hello, message } = createMessageFactory()
    await fixture.consume([hello(), message('picture', 1, BEGIN + 100, { picture: sha256 })])
    const released = await readDeliveries()
    expect(released.map(({ awaits_picture }) => awaits_picture)).toEqual([false, false, false])
  })
})
