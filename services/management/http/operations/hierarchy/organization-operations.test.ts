import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { idIn, makeHierarchy } from '../../../../../test/fixtures/hierarchy.ts'
import { picture } from '../../../../../test/fixtures/management-inputs.ts'
import { sharedManagement } from '../../../../../test/fixtures/shared-management.ts'

const { create, update, delete: remove, id, list } = managementRoutes.organization

const address = {
  organization_area: 'Altstadt',
  organization_city: 'Bern',
  organization_country: 'CH',
  organization_geolocation: { lat: 46.95, long: 7.45 },
  organization_state: 'BE',
  organization_street: 'Kramgasse 49',
  organization_unit: '2',
  organization_zip: '3011',
}
const acme = {
  organization_key: 'acme',
  organization_name: 'Acme',
  organization_description: 'Makes everything',
  organization_icon: 'acme.svg',
  organization_website: 'https://acme.example',
  organization_address: address,
}

describe('an organization', () => {
  const its = sharedManagement()

  it('is created with 200 and null, and Location reads it', async () => {
    const { status, response, headers } = await its.call(create, acme)
    expect([status, response]).toEqual([200, null])
    const location = headers.get('location')!
    expect(location).toMatch(/^\/api\/v1\/organization\/id\?organization_id=[\da-f-]{36}$/)
    const organization_id = location.split('=')[1]!
    expect((await its.call(id, { organization_id })).response).toEqual({ organization_id, ...acme })
  })

  it('needs every field, and each one that is missing is named', async () => {
    const { status, message, response } = await its.send(create, { organization_key: 'empty' })
    expect(status).toBe(400)
    for (const field of Object.keys(acme).filter(key => key !== 'organization_key'))
      expect(message).toContain(`${field}: is required`)
    expect(response).toMatchObject({
      fields: expect.arrayContaining([{ field: 'organization_name', reason: 'is required' }]),
    })
  })

  it('has a key of its own', async () => {
    await its.call(create, { ...acme, organization_key: 'twice' })
    const { status, message } = await its.call(create, { ...acme, organization_key: 'twice' })
    expect([status, message]).toEqual([409, 'organization_key: another organization has this already'])
  })

  it('is updated as it was read', async () => {
    const [first] = (await its.call(list)).response
    await its.call(update, { ...first!, organization_name: 'Acme & Sons' })
    const { response } = await its.call(id, { organization_id: first!.organization_id })
    expect(response).toEqual({ ...first, organization_name: 'Acme & Sons' })
  })

  it('is not updated by an admin of another, who sees it', async () => {
    const { organization_id, site_id } = await makeHierarchy(its, 'seen')
    const other = idIn(await its.call(create, { ...acme, organization_key: 'other' }))
    const admin = await its.signIn('admin', { organization: other, sites: [site_id] })
    const { response } = await its.call(id, { organization_id }, admin)
    expect((await its.call(update, response, admin)).status).toBe(403)
  })

  it('goes when it is empty', async () => {
    await its.call(create, { ...acme, organization_key: 'short-lived' })
    const { organization_id } = (await its.call(list)).response.find(
      each => each.organization_key === 'short-lived',
    )!
    expect((await its.call(remove, { organization_id })).status).toBe(200)
    const { status, message } = await its.call(id, { organization_id })
    expect([status, message]).toEqual([404, 'organization_id: no such organization'])
  })

  it('takes its images with it as it goes, and keeps them while it stays', async () => {
    const organization_id = idIn(await its.call(create, { ...acme, organization_key: 'with images' }))
    const admin = await its.signIn('admin', { organization: organization_id })
    const body = new FormData()
    body.set('image', await picture())
    const headers = { authorization: `Bearer ${admin.token}` }
    const uploaded = await its.request('/image/upload', { method: 'POST', headers, body })
    const shown = uploaded.headers.get('location')!.replace('/api/v1', '')
    const seen = async () => {
      const as = { authorization: `Bearer ${its.superadmin.token}` }
      return (await its.request(shown, { headers: as })).status
    }
    const files = () => readdirSync(join(its.data, 'management/images'))

    expect(await its.call(remove, { organization_id })).toMatchObject({
      status: 409,
      message: 'a user still refers to it: delete or change that first',
    })
    expect([await seen(), files().length]).toEqual([200, 1])

    await its.call(managementRoutes.user.delete, { user_id: admin.user_id })
    expect((await its.call(remove, { organization_id })).status).toBe(200)
    expect([await seen(), files().length]).toEqual([404, 0])
  })

  it.each(['no-uuid', '00000000-0000-7000-8000-000000000000'])(
    'with the id %s is not there',
    async organization_id => {
      const { status, message } = await its.call(id, { organization_id })
      expect([status, message]).toEqual([404, 'organization_id: no such organization'])
    },
  )
})
