import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { getInvalidFields } from '../../../../../test/fixtures/management/alert-input.ts'
import {
  insertRecords,
  type ManagementRecords,
} from '../../../../../test/fixtures/management/records.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { audit, incident, notification, setting, source } from '../../../db/schema/index.ts'

const routes = managementRoutes.incident
const management = sharedManagement()

/** Inserts records whose incident goes on. */
async function plant(
  fields: Partial<typeof incident.$inferInsert> = {},
): Promise<ManagementRecords> {
  const records = await insertRecords(management.database)
  await update(records, { ended_at: null, ...fields })
  return records
}

const update = (
  { incident_id: incidentId }: ManagementRecords,
  fields: Partial<typeof incident.$inferInsert>,
): Promise<unknown> =>
  management.database.system('test', tx =>
    tx.update(incident).set(fields).where(eq(incident.incident_id, incidentId)),
  )

describe('incidents', () => {
  it('are listed newest first, by place, state and time', async () => {
    const records = await plant({ started_at: new Date('2026-03-04T12:00:00Z') })
    const { channel_id, site_id, alert_id, incident_id: incidentId } = records
    const list = async (more: object) =>
      (await management.call(routes.list, { channel_id, ...more })).response.map(
        row => row.incident_id,
      )
    expect((await management.call(routes.list, { channel_id })).response).toMatchObject([
      {
        incident_id: incidentId,
        incident_state: 'open',
        incident_count: 1,
        channel_name: 'channel',
        site_id,
        peak: 2,
        image_url: '',
        clip_url: '',
        acknowledged_by: '',
      },
    ])
    expect(await list({ site_id, alert_id })).toEqual([incidentId])
    expect(await list({ incident_state: 'acknowledged' })).toEqual([])
    // An incident that goes on belongs to every time after its beginning.
    expect(await list({ start: '2026-03-05T00:00:00Z' })).toEqual([incidentId])
    expect(await list({ end: '2026-03-04T12:00:00Z' })).toEqual([])
    await update(records, { ended_at: new Date('2026-03-04T13:00:00Z') })
    expect(await list({ start: '2026-03-05T00:00:00Z' })).toEqual([])
    expect(await list({ incident_state: 'resolved' })).toEqual([incidentId])
  })

  it('have the picture of their best notification, or else of the first one with a picture', async () => {
    const {
      incident_id,
      channel_id,
      notification_uuid: notificationUuid,
    } = await plant({
      best_notification: '00000000-0000-4000-8000-000000000000',
    })
    const readImage = async () =>
      (await management.call(routes.get, { incident_id })).response.image_url
    expect(await readImage()).toBe('')
    await management.database.system('test', tx =>
      tx
        .update(notification)
        .set({ picture: 'a'.repeat(64) })
        .where(eq(notification.notification_uuid, notificationUuid)),
    )
    const query = new URLSearchParams({ channel_id, notification_uuid: notificationUuid })
    expect(await readImage()).toBe(`/api/v1/notification/image?${query}`)
  })

  it('have the address of their recording if the engine of this appliance reads the camera', async () => {
    const records = await plant({
      started_at: new Date('2026-03-04T12:00:00Z'),
      last_at: new Date('2026-03-04T12:01:00Z'),
    })
    const { incident_id, engine_id, source_id: sourceId, customer_id: customerId } = records
    await management.database.system('test', async tx => {
      await tx.update(source).set({ source_sid: 7 }).where(eq(source.source_id, sourceId))
      await tx.insert(setting).values({ name: 'local_engine', value: { engine_id } })
    })
    const viewer = await management.signIn('viewer', { customers: [customerId] })
    expect((await management.call(routes.get, { incident_id }, viewer)).response.clip_url).toBe(
      '/live/recordings/7/clip.mp4?from=2026-03-04T11%3A59%3A55.000Z&to=2026-03-04T12%3A01%3A10.000Z',
    )
  })

  it('are acknowledged once, which ends their escalation, and the audit log shows by whom', async () => {
    const { incident_id: incidentId, customer_id: customerId } = await plant({
      escalates_at: new Date(),
    })
    const first = await management.signIn('manager', { customers: [customerId] })
    const second = await management.signIn('manager', { customers: [customerId] })
    const { response } = await management.call(
      routes.acknowledge,
      { incident_id: incidentId },
      first,
    )
    expect(response).toMatchObject({
      incident_state: 'acknowledged',
      acknowledged_by: first.email,
      acknowledged_at: expect.any(String),
      escalates_at: null,
      resolved_at: null,
    })
    const again = await management.call(routes.acknowledge, { incident_id: incidentId }, second)
    expect(again.response).toEqual(response)
    const entries = await management.database.system('test', tx =>
      tx.select().from(audit).where(eq(audit.record_id, incidentId)),
    )
    expect(entries).toMatchObject([{ actor: first.email, operation: routes.acknowledge.path }])
  })

  it('are resolved by a person, who also acknowledges them', async () => {
    const { incident_id } = await plant()
    const { email } = management.superadmin
    const { response } = await management.call(routes.resolve, { incident_id })
    expect(response).toMatchObject({
      incident_state: 'resolved',
      resolved_by: email,
      acknowledged_by: email,
      ended_at: null,
    })
  })

  it('can be read and not changed by viewers', async () => {
    const { incident_id, customer_id: customerId } = await plant()
    const viewer = await management.signIn('viewer', { customers: [customerId] })
    expect((await management.call(routes.get, { incident_id }, viewer)).status).toBe(200)
    for (const route of [routes.acknowledge, routes.resolve]) {
      expect((await management.call(route, { incident_id }, viewer)).status).toBe(403)
    }
  })
})

describe('the policy of an alert', () => {
  const { getPolicy, updatePolicy } = managementRoutes.alert

  it('has defaults, which omitted fields get again', async () => {
    const { alert_id } = await insertRecords(management.database)
    const defaults = {
      alert_id,
      release_threshold: null,
      quiet_s: 300,
      repeat_s: null,
      budget_per_hour: 20,
      escalation: [],
    }
    expect((await management.call(getPolicy, { alert_id })).response).toEqual(defaults)
    const policy = {
      ...defaults,
      release_threshold: 0.5,
      quiet_s: 60,
      repeat_s: 600,
      budget_per_hour: 5,
      escalation: [{ after_minutes: 5, actions: [{ action_to: 'boss@example.com' }] }],
    }
    expect((await management.call(updatePolicy, policy)).response).toEqual(policy)
    expect((await management.call(getPolicy, { alert_id })).response).toEqual(policy)
    expect((await management.call(updatePolicy, { alert_id })).response).toEqual(defaults)
  })

  it('rejects a release threshold at which the condition still holds', async () => {
    const { alert_id } = await insertRecords(management.database)
    const answer = await management.send(updatePolicy, { alert_id, release_threshold: 2 })
    expect([answer.status, getInvalidFields(answer.response)]).toEqual([400, ['release_threshold']])
    expect(answer.message).toContain('must be at most 1')
  })

  it('records no secrets of the escalation in the audit log', async () => {
    const { alert_id: alertId } = await insertRecords(management.database)
    const actions = [{ action_url: 'https://hooks.example', action_access_token: 'secret' }]
    await management.call(updatePolicy, {
      alert_id: alertId,
      escalation: [{ after_minutes: 1, actions }],
    })
    const entries = await management.database.system('test', tx =>
      tx.select().from(audit).where(eq(audit.record_id, alertId)),
    )
    expect(entries.filter(({ record }) => record === 'alert_policy')).toHaveLength(1)
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  it('is deleted with its alert, and leaves incidents behind', async () => {
    const { alert_id, incident_id, schedule_id } = await plant()
    await management.call(updatePolicy, { alert_id })
    await management.call(managementRoutes.schedule.delete, { schedule_id })
    expect((await management.call(managementRoutes.alert.delete, { alert_id })).status).toBe(200)
    expect((await management.call(routes.get, { incident_id })).response.alert_id).toBeNull()
  })
})
