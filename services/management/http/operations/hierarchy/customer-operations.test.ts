import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { customerInput, idIn, organizationInput } from '../../../../../test/fixtures/hierarchy.ts'
import { sharedHierarchy, sharedManagement } from '../../../../../test/fixtures/shared-management.ts'

const { organization, customer, site } = managementRoutes

describe('a customer', () => {
  const its = sharedManagement()
  const made = sharedHierarchy(its, 'first')

  it('shows what it was made of, with its sites', async () => {
    const { organization_id, customer_id, site_id } = made
    const { response } = await its.call(customer.id, { customer_id })
    expect(response).toMatchObject({ ...customerInput(organization_id, 'first'), customer_id })
    expect([response.customer_sites, response.customer_contact]).toEqual([[site_id], []])
  })

  it('shares its key with none of its organization, and with those of others', async () => {
    const taken = await its.call(customer.create, customerInput(made.organization_id, 'first'))
    expect([taken.status, taken.message]).toEqual([
      409,
      'organization_id, customer_key: another customer has this already',
    ])
    const other = idIn(await its.call(organization.create, organizationInput('other')))
    expect((await its.call(customer.create, customerInput(other, 'first'))).status).toBe(201)
  })

  it('takes sites over as it is made, and gives them back to the default customer', async () => {
    const { organization_id, customer_id, site_id } = made
    const input = { ...customerInput(organization_id, 'taker'), customer_sites: [site_id] }
    const taker = idIn(await its.call(customer.create, input))
    expect((await its.call(site.id, { site_id })).response.customer_id).toBe(taker)
    await its.call(customer.unassignSites, { customer_id: taker, site_ids: [site_id] })
    const all = (await its.call(customer.list, { organization_id, is_default: 'true' })).response
    const holder = all.find(({ customer_sites }) => customer_sites.includes(site_id))!
    expect(holder.customer_key).toBe('default')
    await its.call(customer.assignSites, { customer_id, site_ids: [site_id] })
    expect((await its.call(customer.id, { customer_id })).response.customer_sites).toEqual([site_id])
  })

  it('gives up no site that is not its own', async () => {
    const stranger = idIn(await its.call(customer.create, customerInput(made.organization_id, 'stranger')))
    const { status, message } = await its.call(customer.unassignSites, {
      customer_id: stranger,
      site_ids: [made.site_id],
    })
    expect([status, message]).toEqual([404, 'site_ids: no such site of this customer'])
  })

  it('takes no site of another organization', async () => {
    const other = idIn(await its.call(organization.create, organizationInput('far')))
    const far = idIn(await its.call(customer.create, customerInput(other, 'far')))
    const { status, message } = await its.call(customer.assignSites, {
      customer_id: far,
      site_ids: [made.site_id],
    })
    expect([status, message]).toEqual([404, 'site_ids: no such site in this organization'])
    const input = { ...customerInput(other, 'taker'), customer_sites: [made.site_id] }
    for (const refused of [
      await its.call(customer.create, input),
      await its.call(customer.update, { ...input, customer_id: far }),
    ])
      expect([refused.status, refused.message]).toEqual([
        404,
        'customer_sites: no such site in this organization',
      ])
    expect((await its.call(site.id, { site_id: made.site_id })).response.customer_id).toBe(made.customer_id)
  })

  it('keeps its type, its contacts and its sites where an update leaves them out', async () => {
    const more = { customer_type: 'shop', customer_contact: ['a@b.test'] }
    const input = { ...customerInput(made.organization_id, 'kept'), ...more }
    const customer_id = idIn(await its.call(customer.create, input))
    const update = { ...customerInput(made.organization_id, 'kept'), customer_id, customer_name: 'New' }
    expect((await its.call(customer.update, update)).status).toBe(200)
    expect((await its.call(customer.id, { customer_id })).response).toMatchObject({
      ...more,
      customer_name: 'New',
    })
  })

  it('is assigned to a user and taken from them by ids', async () => {
    const { customer_id } = made
    const { user_id } = await its.signIn('viewer')
    const assigned = async () => (await its.call(managementRoutes.user.id, { user_id })).response.customer_ids
    expect((await its.call(customer.assign, { user_id, customer_id: [customer_id] })).response).toBeNull()
    expect(await assigned()).toEqual([customer_id])
    expect((await its.call(customer.unassign, { user_id, customer_id: [customer_id] })).response).toBeNull()
    expect(await assigned()).toEqual([])
  })

  it('is listed without the default customer unless that is asked for', async () => {
    const { organization_id } = made
    const keys = async (query: object) =>
      (await its.call(customer.list, { organization_id, ...query })).response.map(each => each.customer_key)
    expect(await keys({})).not.toContain('default')
    expect(await keys({ is_default: 'true' })).toContain('default')
  })

  it('stays while it has sites', async () => {
    const { status, message } = await its.call(customer.delete, { customer_id: made.customer_id })
    expect([status, message]).toEqual([409, 'a site still refers to it: delete or change that first'])
  })

  it('goes when it has none, unless it is the default one', async () => {
    const { organization_id } = made
    const empty = idIn(await its.call(customer.create, customerInput(organization_id, 'empty')))
    expect((await its.call(customer.delete, { customer_id: empty })).status).toBe(200)
    const all = (await its.call(customer.list, { organization_id, is_default: 'true' })).response
    const { customer_id } = all.find(({ customer_key }) => customer_key === 'default')!
    expect((await its.call(customer.delete, { customer_id })).status).toBe(409)
  })

  it('is seen by site, with 202 while its engine has not been heard of', async () => {
    const { customer_id, site_id, device_id } = made
    const { status, response } = await its.call(customer.view, { customer_id, type: '1' })
    expect(status).toBe(202)
    expect(response).toMatchObject([{ site_id, site_devices: [{ device_id }] }])
  })

  it('is seen by usecase', async () => {
    const { customer_id, channel_id } = made
    const { response } = await its.call(customer.view, { customer_id, type: '2' })
    expect(response).toMatchObject([{ usecase_channels: [{ channel_id }] }])
  })

  it.each(['0', '3', 'one'])('has no view of the type %s', async type => {
    expect((await its.send(customer.view, { customer_id: made.customer_id, type })).status).toBe(400)
  })
})
