import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { pushInput } from '../../../../../test/fixtures/management/push-input.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { readOrCreateVapidKey, toPublicKey } from '../../../deliveries/push-subscriptions.ts'

const routes = managementRoutes.user
const management = sharedManagement()

const list = async (as: Parameters<typeof management.call>[2]) =>
  (await management.call(routes.pushList, undefined, as)).response

describe('push messages', () => {
  it('have one key, which the first of several concurrent calls creates', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => management.call(routes.pushKey)),
    )
    const keys = new Set(answers.map(({ response }) => response.public_key))
    expect(keys.size).toBe(1)
    const [key = ''] = keys
    expect(Buffer.from(key, 'base64url')).toHaveLength(65)
    const { secrets } = management.scheduler
    expect(
      toPublicKey(
        await management.database.system('test', tx => readOrCreateVapidKey(tx, secrets)),
      ),
    ).toBe(key)
  })

  it('go to the browsers of a user, who sees them without their addresses and can remove them', async () => {
    const viewer = await management.signIn('viewer')
    const other = await management.signIn('viewer')
    const input = pushInput()
    const { response } = await management.call(routes.pushSubscribe, input, viewer)
    expect(await list(viewer)).toEqual([
      {
        push_subscription_id: response.push_subscription_id,
        push_service: 'push.example',
        label: 'Telephone',
        created_at: expect.any(String),
      },
    ])
    expect(await list(other)).toEqual([])
    const { push_subscription_id } = response
    expect(
      (await management.call(routes.pushUnsubscribe, { push_subscription_id }, other)).status,
    ).toBe(404)
    expect(
      (await management.call(routes.pushUnsubscribe, { push_subscription_id }, viewer)).status,
    ).toBe(200)
    expect(await list(viewer)).toEqual([])
  })

  it('follow a browser to the user who has subscribed with it last', async () => {
    const first = await management.signIn('viewer')
    const second = await management.signIn('viewer')
    const input = pushInput()
    await management.call(routes.pushSubscribe, input, first)
    await management.call(routes.pushSubscribe, input, second)
    expect(await list(first)).toEqual([])
    expect(await list(second)).toHaveLength(1)
  })

  it('go to at most twenty browsers of a user', async () => {
    const viewer = await management.signIn('viewer')
    for (let i = 0; i < 22; i += 1) {
      await management.call(routes.pushSubscribe, { ...pushInput(), label: String(i) }, viewer)
    }
    const labels = (await list(viewer)).map(({ label }) => label)
    expect(labels).toEqual(Array.from({ length: 20 }, (_, i) => String(i + 2)))
  })

  it.each([
    [{ endpoint: 'http://push.example/' }, 'endpoint'],
    [{ endpoint: 'file:///etc/passwd' }, 'endpoint'],
    [{ p256dh: Buffer.alloc(65, 4).toString('base64url') }, 'p256dh'],
    [{ p256dh: 'short' }, 'p256dh'],
    [{ auth: 'short' }, 'auth'],
  ])('are refused for a subscription with %j', async (fields, field) => {
    const answer = await management.call(routes.pushSubscribe, { ...pushInput(), ...fields })
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining(field)])
  })
})
