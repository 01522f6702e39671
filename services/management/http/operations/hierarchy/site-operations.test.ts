import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { customerInput, idIn, makeHierarchy, siteInput } from '../../../../../test/fixtures/hierarchy.ts'
import { absentEngine } from '../../../../../test/fixtures/management-records.ts'
import { sharedHierarchy, sharedManagement } from '../../../../../test/fixtures/shared-management.ts'

const { site, engine, customer, user } = managementRoutes

describe('a site', () => {
  const its = sharedManagement()
  const made = sharedHierarchy(its, 'first')

  it('shows what it was made of and counts its devices', async () => {
    const { organization_id, customer_id, site_id } = made
    const { response } = await its.call(site.id, { site_id })
    expect(response).toMatchObject({ ...siteInput(organization_id, customer_id, 'first'), site_id })
    expect([response.site_total_devices, response.site_timezone]).toEqual([1, 'UTC'])
  })

  const inZone = (site_timezone: string) =>
    its.call(site.create, {
      ...siteInput(made.organization_id, made.customer_id, `in ${site_timezone}`),
      site_timezone,
    })

  it.each(['Mars/Olympus', '+01:00', 'europe/berlin', ''])('is in no time zone such as "%s"', async zone => {
    const { status, message } = await inZone(zone)
    expect([status, message]).toEqual([400, 'site_timezone: must be an IANA time zone such as Europe/Berlin'])
  })

  // Of each of the last three there is another name, too.
  it.each(['Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Europe/Kyiv', 'Etc/GMT'])('is in %s', async zone => {
    const site_id = idIn(await inZone(zone))
    expect((await its.call(site.id, { site_id })).response.site_timezone).toBe(zone)
  })

  it('is viewed with its devices, and sent back as it was read', async () => {
    const { site_id, device_id } = made
    const view = (await its.call(site.view, { site_id })).response
    expect(view.site_devices).toMatchObject([{ device_id }])
    expect((await its.send(site.update, view)).status).toBe(200)
    expect((await its.call(site.view, { site_id })).response).toEqual(view)
  })

  it('is assigned to a user and taken from them, of the customer that is named', async () => {
    const { organization_id, customer_id, site_id } = made
    const other = idIn(await its.call(customer.create, customerInput(organization_id, 'other')))
    const { user_id } = await its.signIn('viewer')
    const assigned = async () => (await its.call(user.id, { user_id })).response.site_ids
    expect((await its.call(site.assign, { user_id, site_id: [site_id] })).status).toBe(200)
    expect((await its.call(site.assign, { user_id, site_id: [site_id] })).status).toBe(200)
    expect(await assigned()).toEqual([site_id])

    const wrong = await its.call(site.unassign, { user_id, site_id: [site_id], customer_id: other })
    expect([wrong.status, wrong.message]).toEqual([404, 'site_id: no such site of this customer'])
    expect(await assigned()).toEqual([site_id])
    expect((await its.call(site.unassign, { user_id, site_id: [site_id], customer_id })).status).toBe(200)
    expect(await assigned()).toEqual([])
  })

  it('is taken from nobody who has something outside of what the admin administers', async () => {
    const elsewhere = await makeHierarchy(its, 'elsewhere')
    const admin = await its.signIn('admin', { organization: made.organization_id })
    const sites = [made.site_id, elsewhere.site_id]
    const { user_id } = await its.signIn('viewer', { sites, customers: [made.customer_id] })
    const answers = [
      await its.call(site.unassign, { user_id, site_id: [made.site_id] }, admin),
      await its.call(customer.unassign, { user_id, customer_id: [made.customer_id] }, admin),
    ]
    for (const { status, message } of answers)
      expect([status, message]).toEqual([403, expect.stringContaining('ask its administrator')])
    const { site_ids, customer_ids } = (await its.call(user.id, { user_id })).response
    expect([site_ids.toSorted(), customer_ids]).toEqual([sites.toSorted(), [made.customer_id]])
  })

  it('is deleted once, and is not there for who deletes it at the same moment', async () => {
    const { organization_id, customer_id } = made
    const site_id = idIn(await its.call(site.create, siteInput(organization_id, customer_id, 'twice')))
    const answers = await Promise.all(Array.from({ length: 4 }, () => its.call(site.delete, { site_id })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404])
  })

  it('stays while it has devices', async () => {
    expect((await its.call(site.delete, { site_id: made.site_id })).status).toBe(409)
  })

  it('stays while an engine is given to it', async () => {
    const { organization_id, customer_id } = made
    const site_id = idIn(await its.call(site.create, siteInput(organization_id, customer_id, 'served')))
    const engine_id = idIn(await its.call(engine.create, { ...absentEngine, site_ids: [site_id] }))
    const { status, message } = await its.call(site.delete, { site_id })
    expect([status, message]).toEqual([409, 'an engine still refers to it: delete or change that first'])
    await its.call(engine.update, { ...absentEngine, engine_id, site_ids: [] })
    expect((await its.call(site.delete, { site_id })).status).toBe(200)
  })
})
