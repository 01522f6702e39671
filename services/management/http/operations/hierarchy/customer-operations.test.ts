import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import {
  customerInput,
  getCreatedId,
  organizationInput,
} from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'

const { organization, customer, site } = managementRoutes

describe('customers', () => {
  const management = sharedManagement()
  const hierarchy = sharedHierarchy(management, 'first')

  it('are returned with their fields and sites', async () => {
    const { organization_id: organizationId, customer_id, site_id: siteId } = hierarchy
    const { response } = await management.call(customer.get, { customer_id })
    expect(response).toMatchObject({ ...customerInput(organizationId, 'first'), customer_id })
    expect([response.customer_sites, response.customer_contact]).toEqual([[siteId], []])
  })

  it('have keys that are unique within their organization', async () => {
    const taken = await management.call(
      customer.create,
      customerInput(hierarchy.organization_id, 'first'),
    )
    expect([taken.status, taken.message]).toEqual([
      409,
      'organization_id, customer_key: another customer has this already',
    ])
    const other = getCreatedId(
      await management.call(organization.create, organizationInput('other')),
    )
    expect((await management.call(customer.create, customerInput(other, 'first'))).status).toBe(201)
  })

  it('take over sites on creation and return them to the default customer', async () => {
    const { organization_id: organizationId, customer_id, site_id: siteId } = hierarchy
    const input = { ...customerInput(organizationId, 'taker'), customer_sites: [siteId] }
    const taker = getCreatedId(await management.call(customer.create, input))
    expect((await management.call(site.get, { site_id: siteId })).response.customer_id).toBe(taker)
    await management.call(customer.unassignSites, { customer_id: taker, site_ids: [siteId] })
    const all = (
      await management.call(customer.list, { organization_id: organizationId, is_default: 'true' })
    ).response
    const holder = all.find(({ customer_sites }) => customer_sites.includes(siteId))!
    expect(holder.customer_key).toBe('default')
    await management.call(customer.assignSites, { customer_id, site_ids: [siteId] })
    expect((await management.call(customer.get, { customer_id })).response.customer_sites).toEqual([
      siteId,
    ])
  })

  it('reject the removal of a site of another customer', async () => {
    const stranger = getCreatedId(
      await management.call(customer.create, customerInput(hierarchy.organization_id, 'stranger')),
    )
    const { status, message } = await management.call(customer.unassignSites, {
      customer_id: stranger,
      site_ids: [hierarchy.site_id],
    })
    expect([status, message]).toEqual([404, 'site_ids: no such site of this customer'])
  })

  it('name the missing right if they are visible but belong to an organization of others', async () => {
    const { organization_id: organizationId, customer_id, site_id: siteId } = hierarchy
    const own = getCreatedId(await management.call(organization.create, organizationInput('own')))
    const admin = await management.signIn('admin', { organization: own, sites: [siteId] })

    const change = { ...customerInput(organizationId, 'first'), customer_id }
    const changed = await management.call(customer.update, change, admin)
    expect([changed.status, changed.message]).toEqual([
      403,
      'you may read this record but not change it: "Update a customer" requires the role admin in its organization, or the customer as an assignment. Your role is admin: ask an administrator of the organization',
    ])

    const created = await management.call(
      customer.create,
      customerInput(organizationId, 'new'),
      admin,
    )
    expect([created.status, created.message]).toEqual([
      403,
      '"Create a customer" is outside of your rights: your role is admin, which covers only the records and users of your assignments. Ask an administrator of the organization concerned',
    ])
  })

  it('reject a site of another organization', async () => {
    const other = getCreatedId(await management.call(organization.create, organizationInput('far')))
    const far = getCreatedId(await management.call(customer.create, customerInput(other, 'far')))
    const { status, message } = await management.call(customer.assignSites, {
      customer_id: far,
      site_ids: [hierarchy.site_id],
    })
    expect([status, message]).toEqual([404, 'site_ids: no such site in this organization'])
    const input = { ...customerInput(other, 'taker'), customer_sites: [hierarchy.site_id] }
    for (const refused of [
      await management.call(customer.create, input),
      await management.call(customer.update, { ...input, customer_id: far }),
    ]) {
      expect([refused.status, refused.message]).toEqual([
        404,
        'customer_sites: no such site in this organization',
      ])
    }
    expect(
      (await management.call(site.get, { site_id: hierarchy.site_id })).response.customer_id,
    ).toBe(hierarchy.customer_id)
  })

  it('keep type, contacts and sites that an update omits', async () => {
    const more = { customer_type: 'shop', customer_contact: ['a@b.test'] }
    const input = { ...customerInput(hierarchy.organization_id, 'kept'), ...more }
    const customerId = getCreatedId(await management.call(customer.create, input))
    const update = {
      ...customerInput(hierarchy.organization_id, 'kept'),
      customer_id: customerId,
      customer_name: 'New',
    }
    expect((await management.call(customer.update, update)).status).toBe(200)
    expect(
      (await management.call(customer.get, { customer_id: customerId })).response,
    ).toMatchObject({
      ...more,
      customer_name: 'New',
    })
  })

  it('are assigned to a user and unassigned by ids', async () => {
    const { customer_id: customerId } = hierarchy
    const { user_id } = await management.signIn('viewer')
    const assigned = async () =>
      (await management.call(managementRoutes.user.get, { user_id })).response.customer_ids
    expect(
      (await management.call(customer.assign, { user_id, customer_id: [customerId] })).response,
    ).toBeNull()
    expect(await assigned()).toEqual([customerId])
    expect(
      (await management.call(customer.unassign, { user_id, customer_id: [customerId] })).response,
    ).toBeNull()
    expect(await assigned()).toEqual([])
  })

  it('are listed without the default customer unless it is requested', async () => {
    const { organization_id } = hierarchy
    const keys = async (query: object) =>
      (await management.call(customer.list, { organization_id, ...query })).response.map(
        each => each.customer_key,
      )
    expect(await keys({})).not.toContain('default')
    expect(await keys({ is_default: 'true' })).toContain('default')
  })

  it('cannot be deleted while they have sites', async () => {
    const { status, message } = await management.call(customer.delete, {
      customer_id: hierarchy.customer_id,
    })
    expect([status, message]).toEqual([
      409,
      'a site still refers to it: delete or change that first',
    ])
  })

  it('are deleted without sites, except the default customer', async () => {
    const { organization_id: organizationId } = hierarchy
    const empty = getCreatedId(
      await management.call(customer.create, customerInput(organizationId, 'empty')),
    )
    expect((await management.call(customer.delete, { customer_id: empty })).status).toBe(200)
    const all = (
      await management.call(customer.list, { organization_id: organizationId, is_default: 'true' })
    ).response
    const { customer_id } = all.find(({ customer_key }) => customer_key === 'default')!
    expect((await management.call(customer.delete, { customer_id })).status).toBe(409)
  })

  it('are viewed by site, with 202 while their engine has not reported', async () => {
    const { customer_id, site_id, device_id } = hierarchy
    const { status, response } = await management.call(customer.view, { customer_id, type: '1' })
    expect(status).toBe(202)
    expect(response).toMatchObject([{ site_id, site_devices: [{ device_id }] }])
  })

  it('are viewed by usecase', async () => {
    const { customer_id, channel_id } = hierarchy
    const { response } = await management.call(customer.view, { customer_id, type: '2' })
    expect(response).toMatchObject([{ usecase_channels: [{ channel_id }] }])
  })

  it.each(['0', '3', 'one'])('reject a view of type %s', async type => {
    expect(
      (await management.send(customer.view, { customer_id: hierarchy.customer_id, type })).status,
    ).toBe(400)
  })
})
