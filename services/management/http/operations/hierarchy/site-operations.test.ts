import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { unreachableEngine } from '../../../../../test/fixtures/management/channel-records.ts'
import {
  createHierarchy,
  customerInput,
  getCreatedId,
  siteInput,
} from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'

const { site, engine, customer, user } = managementRoutes

describe('sites', () => {
  const management = sharedManagement()
  const hierarchy = sharedHierarchy(management, 'first')

  it('are returned with their fields and number of devices', async () => {
    const { organization_id: organizationId, customer_id: customerId, site_id } = hierarchy
    const { response } = await management.call(site.get, { site_id })
    expect(response).toMatchObject({ ...siteInput(organizationId, customerId, 'first'), site_id })
    expect([response.site_total_devices, response.site_timezone]).toEqual([1, 'UTC'])
  })

  const createSiteInZone = (siteTimezone: string) =>
    management.call(site.create, {
      ...siteInput(hierarchy.organization_id, hierarchy.customer_id, `in ${siteTimezone}`),
      site_timezone: siteTimezone,
    })

  it.each(['Mars/Olympus', '+01:00', 'europe/berlin', ''])(
    'reject the time zone "%s"',
    async zone => {
      const { status, message } = await createSiteInZone(zone)
      expect([status, message]).toEqual([
        400,
        'site_timezone: must be an IANA time zone such as Europe/Berlin',
      ])
    },
  )

  // Asia/Kolkata, Europe/Kyiv and Etc/GMT are aliases or have aliases.
  it.each(['Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Europe/Kyiv', 'Etc/GMT'])(
    'accept the time zone %s',
    async zone => {
      const siteId = getCreatedId(await createSiteInZone(zone))
      expect((await management.call(site.get, { site_id: siteId })).response.site_timezone).toBe(
        zone,
      )
    },
  )

  it('are viewed with their devices and updated with the fields that were read', async () => {
    const { site_id, device_id } = hierarchy
    const view = (await management.call(site.view, { site_id })).response
    expect(view.site_devices).toMatchObject([{ device_id }])
    expect((await management.send(site.update, view)).status).toBe(200)
    expect((await management.call(site.view, { site_id })).response).toEqual(view)
  })

  it('are assigned to a user and unassigned by customer', async () => {
    const { organization_id: organizationId, customer_id, site_id: siteId } = hierarchy
    const other = getCreatedId(
      await management.call(customer.create, customerInput(organizationId, 'other')),
    )
    const { user_id } = await management.signIn('viewer')
    const readAssigned = async () =>
      (await management.call(user.get, { user_id })).response.site_ids
    expect((await management.call(site.assign, { user_id, site_id: [siteId] })).status).toBe(200)
    expect((await management.call(site.assign, { user_id, site_id: [siteId] })).status).toBe(200)
    expect(await readAssigned()).toEqual([siteId])

    const rejected = await management.call(site.unassign, {
      user_id,
      site_id: [siteId],
      customer_id: other,
    })
    expect([rejected.status, rejected.message]).toEqual([
      404,
      'site_id: no such site of this customer',
    ])
    expect(await readAssigned()).toEqual([siteId])
    expect(
      (await management.call(site.unassign, { user_id, site_id: [siteId], customer_id })).status,
    ).toBe(200)
    expect(await readAssigned()).toEqual([])
  })

  it('cannot be unassigned from a user with assignments that the admin does not administer', async () => {
    const elsewhere = await createHierarchy(management, 'elsewhere')
    const admin = await management.signIn('admin', { organization: hierarchy.organization_id })
    const sites = [hierarchy.site_id, elsewhere.site_id]
    const { user_id } = await management.signIn('viewer', {
      sites,
      customers: [hierarchy.customer_id],
    })
    const responses = [
      await management.call(site.unassign, { user_id, site_id: [hierarchy.site_id] }, admin),
      await management.call(
        customer.unassign,
        { user_id, customer_id: [hierarchy.customer_id] },
        admin,
      ),
    ]
    for (const { status, message } of responses) {
      expect([status, message]).toEqual([403, expect.stringContaining('ask an administrator')])
    }
    const { site_ids: siteIds, customer_ids: customerIds } = (
      await management.call(user.get, { user_id })
    ).response
    expect([siteIds.toSorted(), customerIds]).toEqual([sites.toSorted(), [hierarchy.customer_id]])
  })

  it('are deleted once: a concurrent deletion is rejected with 404', async () => {
    const { organization_id: organizationId, customer_id: customerId } = hierarchy
    const siteId = getCreatedId(
      await management.call(site.create, siteInput(organizationId, customerId, 'twice')),
    )
    const responses = await Promise.all(
      Array.from({ length: 4 }, () => management.call(site.delete, { site_id: siteId })),
    )
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404])
  })

  it('cannot be deleted while they have devices', async () => {
    expect((await management.call(site.delete, { site_id: hierarchy.site_id })).status).toBe(409)
  })

  it('cannot be deleted while an engine is assigned to them', async () => {
    const { organization_id: organizationId, customer_id: customerId } = hierarchy
    const siteId = getCreatedId(
      await management.call(site.create, siteInput(organizationId, customerId, 'served')),
    )
    const engineId = getCreatedId(
      await management.call(engine.create, { ...unreachableEngine, site_ids: [siteId] }),
    )
    const { status, message } = await management.call(site.delete, { site_id: siteId })
    expect([status, message]).toEqual([
      409,
      'an engine still refers to it: delete or change that first',
    ])
    await management.call(engine.update, {
      ...unreachableEngine,
      engine_id: engineId,
      site_ids: [],
    })
    expect((await management.call(site.delete, { site_id: siteId })).status).toBe(200)
  })
})
