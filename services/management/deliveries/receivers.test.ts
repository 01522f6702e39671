import { randomUUID } from 'node:crypto'
import type { AlertAction } from '@eyrie/contract/management/alert'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq, inArray } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { firingDetails } from '../../../test/fixtures/management/alert-records.ts'
import type { SignedInUser } from '../../../test/fixtures/management/management.ts'
import { pushInput } from '../../../test/fixtures/management/push-input.ts'
import { insertRecords } from '../../../test/fixtures/management/records.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../test/fixtures/management/shared-management.ts'
import { createRequest } from '../alerts/notification-text.ts'
import type { Database } from '../db/database.ts'
import {
  channel,
  delivery,
  pushSubscription,
  usecase,
  user,
  userCustomer,
  userUsecase,
} from '../db/schema/index.ts'
import { claimDeliveries, storeResults } from './claim-deliveries.ts'
import { storeDeliveries } from './outbox.ts'
import { unsubscribe } from './unsubscribed-addresses.ts'

const management = sharedManagement()
const records = sharedRecords(management)
const database: Pick<Database, 'system'> = {
  system: (operation, work) => management.database.system(operation, work),
}
const routes = managementRoutes.user

beforeEach(() =>
  database.system('test', async tx => {
    await tx.delete(delivery)
    await tx.delete(pushSubscription)
  }),
)

/** Stores a message of the alert, and claims what became of it. */
async function send(action: AlertAction, more: object = {}) {
  await database.system('test', tx =>
    storeDeliveries(tx, [
      {
        kind: 'notification',
        alert_id: records.alert_id,
        channel_id: records.channel_id,
        notification_uuid: records.notification_uuid,
        request: { ...createRequest(action, firingDetails), ...more },
      },
    ]),
  )
  return claim()
}

const claim = () =>
  database.system('test', tx =>
    claimDeliveries(
      tx,
      { limit: 100, lease_s: 0.001, target_limit: 100, target_limits: {} },
      address => `token of ${address}`,
    ),
  )

async function subscribe(as: SignedInUser) {
  const input = pushInput()
  const { response } = await management.call(routes.pushSubscribe, input, as)
  return { ...response, endpoint: input.endpoint }
}

const insider = () => management.signIn('viewer', { customers: [records.customer_id] })

describe('the receivers of a message', () => {
  it('are separate deliveries of an SMS and of an e-mail', async () => {
    const sms = await send({
      action_type: 'sms',
      action_to: '+41790000001, +41790000002,+41790000001',
    })
    expect(sms.map(({ request }) => request.action.action_to).toSorted()).toEqual([
      '+41790000001',
      '+41790000002',
    ])
    await database.system('test', tx => tx.delete(delivery))
    const addresses = ['a@example.com', '"Doe, B" <b@example.com>']
    const emails = await send({ action_type: 'email', action_to: addresses.join(', ') })
    expect(emails.map(({ request }) => request.action.action_to).toSorted()).toEqual(
      addresses.toSorted(),
    )
    await database.system('test', tx => tx.delete(delivery))
    const digests = await send(
      { action_type: 'email', action_to: 'a@example.com, b@example.com' },
      { digest: true },
    )
    expect(digests.map(({ unsubscribe_token }) => unsubscribe_token).toSorted()).toEqual([
      'token of a@example.com',
      'token of b@example.com',
    ])
  })

  it('are separate deliveries of an SMS about the appliance, which has no channel', async () => {
    const request = createRequest(
      { action_type: 'sms', action_to: '+41790000001, +41790000002' },
      firingDetails,
    )
    const { system_alert_id } = records
    await database.system('test', tx =>
      storeDeliveries(tx, [{ kind: 'system_alert', system_alert_id, request }]),
    )
    const messages = await claim()
    expect(messages.map(({ request }) => request.action.action_to).toSorted()).toEqual([
      '+41790000001',
      '+41790000002',
    ])
  })

  it('are those of the settings if the action names none', async () => {
    await management.call(managementRoutes.config.updateSms, {
      sms_to: '+41790000003, +41790000004',
    })
    expect(await send({ action_type: 'sms' })).toHaveLength(2)
  })

  it('have the state of their subscription to digests at the time of sending', async () => {
    const address = `${randomUUID()}@example.com`
    const [before] = await send({ action_to: address.toUpperCase() }, { digest: true })
    expect(before).toMatchObject({ is_unsubscribed: false })
    await database.system('test', tx => unsubscribe(tx, address))
    await database.system('test', tx => tx.update(delivery).set({ next_attempt_at: new Date(0) }))
    expect(await claim()).toMatchObject([{ is_unsubscribed: true }])
    await database.system('test', tx => tx.delete(delivery))
    // Other messages are not digests.
    expect(await send({ action_to: address })).toMatchObject([
      { is_unsubscribed: false, unsubscribe_token: null },
    ])
  })

  it('see the messages of an alert on one day as one thread, unless the message belongs to another', async () => {
    const [message] = await send({ action_to: 'a@example.com' })
    expect(message!.request.thread_key).toMatch(
      new RegExp(`^${records.alert_id}/\\d{4}-\\d\\d-\\d\\d$`),
    )
    await database.system('test', tx => tx.delete(delivery))
    expect(await send({ action_to: 'a@example.com' }, { thread_key: 'incident' })).toMatchObject([
      { request: { thread_key: 'incident' } },
    ])
  })
})

describe('the browsers that receive a push message', () => {
  it('are those of the users who may view the channel, each with a delivery of its own', async () => {
    const viewer = await insider()
    const telephones = [
      await subscribe(viewer),
      await subscribe(viewer),
      await subscribe(management.superadmin),
    ]
    const elsewhere = await insertRecords(management.database)
    await subscribe(await management.signIn('manager', { customers: [elsewhere.customer_id] }))
    const claimed = await send({ action_type: 'push' })
    expect(claimed.map(({ push }) => push?.endpoint).toSorted()).toEqual(
      telephones.map(({ endpoint }) => endpoint).toSorted(),
    )
    expect(claimed.map(({ target }) => target)).toEqual(Array(3).fill('push:push.example'))
  })

  it('are those of the users whom the action names', async () => {
    const named = await insider()
    await subscribe(named)
    await subscribe(await insider())
    const claimed = await send({ action_type: 'push', action_to: named.email.toUpperCase() })
    expect(claimed.map(({ request }) => request.action.action_to)).toEqual([named.email])
  })

  it('are none, with a delivery that says so, if no user has switched messages on', async () => {
    expect(await send({ action_type: 'push' })).toMatchObject([{ type: 'push', push: null }])
  })

  it('receive nothing once the user has lost the site, is inactive or has switched messages off', async () => {
    const changes = [
      ({ user_id: userId }: SignedInUser) =>
        database.system('test', tx =>
          tx.delete(userCustomer).where(eq(userCustomer.user_id, userId)),
        ),
      ({ user_id: userId }: SignedInUser) =>
        database.system('test', tx =>
          tx.update(user).set({ is_active: false }).where(eq(user.user_id, userId)),
        ),
      ({ user_id: userId }: SignedInUser) =>
        database.system('test', tx =>
          tx.delete(pushSubscription).where(eq(pushSubscription.user_id, userId)),
        ),
    ]
    for (const change of changes) {
      const viewer = await insider()
      await subscribe(viewer)
      const action = { action_type: 'push', action_to: viewer.email } as const
      expect(await send(action)).toMatchObject([{ push: { auth: expect.any(String) } }])
      await change(viewer)
      await database.system('test', tx => tx.update(delivery).set({ next_attempt_at: new Date(0) }))
      expect(await claim()).toMatchObject([{ push: null }])
      await database.system('test', tx => tx.delete(delivery))
    }
  })

  it('are deleted when their push service reports that they have unsubscribed', async () => {
    const viewer = await insider()
    await subscribe(viewer)
    const kept = await subscribe(viewer)
    const claimed = await send({ action_type: 'push' })
    const { delivery_id, attempt } = claimed.find(({ push }) => push!.endpoint !== kept.endpoint)!
    await database.system('test', tx =>
      storeResults(tx, [
        { delivery_id, attempt, state: 'dead', reason: '410', is_receiver_gone: true },
      ]),
    )
    const { response } = await management.call(routes.pushList, undefined, viewer)
    expect(response.map(({ push_subscription_id }) => push_subscription_id)).toEqual([
      kept.push_subscription_id,
    ])
  })

  it('belong to exactly the users to whom row-level security shows the channel', async () => {
    const {
      organization_id: organizationId,
      customer_id: customerId,
      site_id: siteId,
      channel_id: channelId,
    } = records
    const other = await insertRecords(management.database)
    const people = [
      await management.signIn('admin', { organization: organizationId }),
      await management.signIn('admin', { organization: other.organization_id }),
      await management.signIn('admin', { customers: [customerId] }),
      await management.signIn('admin', { organization: other.organization_id, sites: [siteId] }),
      await management.signIn('manager', { organization: organizationId }),
      await management.signIn('manager', { customers: [customerId] }),
      await management.signIn('viewer', { sites: [siteId] }),
      await management.signIn('viewer', { sites: [other.site_id] }),
      await management.signIn('viewer'),
      await management.signIn('superadmin'),
    ]
    const limited = await management.signIn('viewer', { sites: [siteId] })
    await database.system('test', async tx => {
      const [row] = await tx.select().from(channel).where(eq(channel.channel_id, channelId))
      const usecases = await tx.select().from(usecase)
      const another = usecases.find(({ usecase_id }) => usecase_id !== row!.usecase_id)!
      await tx
        .insert(userUsecase)
        .values({ user_id: limited.user_id, usecase_id: another.usecase_id })
    })
    const all = [...people, limited]
    for (const person of all) await subscribe(person)
    const claimed = await send({ action_type: 'push' })
    const receivers = claimed.map(({ request }) => request.action.action_to)
    const viewers: string[] = []
    for (const person of all) {
      const { status } = await management.call(
        managementRoutes.channel.get,
        { channel_id: channelId },
        person,
      )
      if (status === 200) viewers.push(person.email)
    }
    expect(receivers.toSorted()).toEqual(viewers.toSorted())
    expect(viewers.length).toBeGreaterThan(3)
    expect(viewers.length).toBeLessThan(all.length)
    await database.system('test', tx =>
      tx.delete(user).where(
        inArray(
          user.user_id,
          all.map(({ user_id }) => user_id),
        ),
      ),
    )
  })
})
