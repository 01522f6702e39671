import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { getInvalidFields } from '../../../../../test/fixtures/management/alert-input.ts'
import { insertRecords } from '../../../../../test/fixtures/management/records.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { incident } from '../../../db/schema/index.ts'

const routes = managementRoutes.snooze
const management = sharedManagement()

const getCreatedId = ({ headers }: { headers: Headers }) =>
  headers.get('location')!.split('snooze_id=')[1]!

describe('snoozes', () => {
  it.each([
    ['hour', 3_600_000],
    ['day', 86_400_000],
  ] as const)('last for the %s that was asked for', async (duration, durationMs) => {
    const { alert_id, channel_id, site_id } = await insertRecords(management.database)
    const created = await management.call(routes.create, { alert_id, duration, reason: 'cleaning' })
    expect(created.status).toBe(201)
    const { response } = await management.call(routes.get, { snooze_id: getCreatedId(created) })
    expect(response).toMatchObject({
      alert_id,
      channel_id,
      site_id,
      reason: 'cleaning',
      created_by: management.superadmin.email,
    })
    const lastsMs = Date.parse(response.until!) - Date.parse(response.created_at)
    expect(Math.abs(lastsMs - durationMs)).toBeLessThan(60_000)
  })

  it('until an incident is resolved need one, and are listed until then', async () => {
    const {
      channel_id,
      site_id,
      incident_id: incidentId,
    } = await insertRecords(management.database)
    const duration = 'resolved' as const
    const refused = await management.call(routes.create, { channel_id, duration })
    expect([refused.status, refused.message]).toEqual([
      409,
      expect.stringContaining('no incident is open'),
    ])

    await management.database.system('test', tx =>
      tx.update(incident).set({ ended_at: null }).where(eq(incident.incident_id, incidentId)),
    )
    expect((await management.call(routes.create, { channel_id, duration })).status).toBe(201)
    const list = async () => (await management.call(routes.list, { site_id })).response
    expect(await list()).toMatchObject([{ channel_id, alert_id: null, until: null }])
    await management.call(managementRoutes.incident.resolve, { incident_id: incidentId })
    expect(await list()).toEqual([])
  })

  it('are ended by managers of what they cover, and seen by viewers', async () => {
    const { site_id, customer_id: customerId } = await insertRecords(management.database)
    const manager = await management.signIn('manager', { customers: [customerId] })
    const viewer = await management.signIn('viewer', { customers: [customerId] })
    const created = await management.call(routes.create, { site_id, duration: 'day' }, manager)
    const snoozeId = getCreatedId(created)
    expect((await management.call(routes.list, {}, viewer)).response).toMatchObject([
      { snooze_id: snoozeId },
    ])
    expect((await management.call(routes.delete, { snooze_id: snoozeId }, viewer)).status).toBe(403)
    expect((await management.call(routes.delete, { snooze_id: snoozeId }, manager)).status).toBe(
      200,
    )
    expect((await management.call(routes.list, { site_id }, manager)).response).toEqual([])
  })

  it('cover one record', async () => {
    const { site_id, channel_id } = await insertRecords(management.database)
    for (const scope of [{}, { site_id, channel_id }]) {
      const { status, response } = await management.send(routes.create, {
        ...scope,
        duration: 'hour',
      })
      expect([status, getInvalidFields(response)]).toEqual([400, ['site_id']])
    }
  })
})
