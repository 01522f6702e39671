import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { alertInput } from '../../../../../test/fixtures/management/alert-input.ts'
import { insertRecords } from '../../../../../test/fixtures/management/records.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import {
  insertDeliveries,
  readDelivery,
  updateDelivery,
} from '../../../../../test/fixtures/scheduler/insert-deliveries.ts'
import { audit } from '../../../db/schema/index.ts'

const routes = managementRoutes.delivery
const management = sharedManagement()

async function plant() {
  const records = await insertRecords(management.database)
  const [deliveryId = ''] = await insertDeliveries(management.database, records, [
    {
      action_url: 'https://user:secret@hooks.example/path/secret?token=secret',
      action_access_token: 'secret',
    },
  ])
  return { ...records, delivery_id: deliveryId }
}

describe('deliveries', () => {
  it('are listed newest first, with their state and without secrets', async () => {
    const { channel_id, delivery_id, notification_uuid } = await plant()
    const list = await management.call(routes.list, { channel_id })
    expect(list.response).toHaveLength(2)
    expect(list.response[0]).toMatchObject({
      delivery_id,
      delivery_type: 'webhook',
      delivery_to: 'hooks.example',
      delivery_state: 'queued',
      delivery_attempts: 0,
      notification_uuid,
      is_test: false,
    })
    expect(JSON.stringify(list.response)).not.toContain('secret')
    const dead = await management.call(routes.list, { channel_id, delivery_state: 'dead' })
    expect(dead.response.map(row => row.delivery_state)).toEqual(['dead'])
  })

  it('are sent again only when they are dead, and the audit log shows by whom', async () => {
    const { delivery_id: deliveryId, customer_id: customerId } = await plant()
    const manager = await management.signIn('manager', { customers: [customerId] })
    const early = await management.call(routes.retry, { delivery_id: deliveryId }, manager)
    expect([early.status, early.message]).toEqual([
      409,
      expect.stringContaining('this delivery is queued'),
    ])

    await updateDelivery(management.database, deliveryId, {
      state: 'dead',
      attempts: 9,
      next_attempt_at: null,
      expires_at: new Date(0),
      finished_at: new Date(),
    })
    const revived = await management.call(routes.retry, { delivery_id: deliveryId }, manager)
    expect(revived.response).toMatchObject({
      delivery_id: deliveryId,
      delivery_state: 'queued',
      finished_at: null,
    })
    const row = await readDelivery(management.database, deliveryId)
    expect(row.expires_at.getTime()).toBeGreaterThan(Date.now())

    const entries = await management.database.system('test', tx =>
      tx.select().from(audit).where(eq(audit.record_id, deliveryId)),
    )
    expect(entries).toMatchObject([
      { actor: manager.email, operation: routes.retry.path, change: 'update' },
    ])
    expect(JSON.stringify(entries)).not.toContain('secret')
  })
})

describe('a test message', () => {
  it('is queued at once and says that it is a test', async () => {
    const { channel_id: channelId } = await plant()
    const created = await management.call(managementRoutes.alert.create, alertInput(channelId))
    const alertId = new URLSearchParams(created.headers.get('location')!.split('?')[1]).get(
      'alert_id',
    )!
    const answer = await management.call(routes.test, { alert_id: alertId, action_index: 0 })
    expect(answer.status).toBe(201)
    const [path, query] = answer.headers.get('location')!.split('?')
    expect(path).toBe('/api/v1/delivery/id')
    const deliveryId = new URLSearchParams(query).get('delivery_id')!
    expect((await management.call(routes.get, { delivery_id: deliveryId })).response).toMatchObject(
      {
        is_test: true,
        notification_uuid: null,
        alert_id: alertId,
        delivery_state: 'queued',
      },
    )
    const row = await readDelivery(management.database, deliveryId)
    expect(row.request).toMatchObject({
      subject: 'Test: busy',
      action: { action_process_delay: 0 },
    })
  })

  it('needs an action that the alert has', async () => {
    const { alert_id } = await plant()
    const answer = await management.call(routes.test, { alert_id, action_index: 1 })
    expect([answer.status, answer.message]).toEqual([400, expect.stringContaining('action_index')])
  })
})
