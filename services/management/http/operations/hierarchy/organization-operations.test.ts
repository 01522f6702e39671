import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { createHierarchy, getCreatedId } from '../../../../../test/fixtures/management/hierarchy.ts'
import { createJpegFile } from '../../../../../test/fixtures/management/operation-inputs.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'

const { create, update, delete: remove, get, list } = managementRoutes.organization

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

describe('organizations', () => {
  const management = sharedManagement()

  it('are created with 200 and null, and Location points to them', async () => {
    const { status, response, headers } = await management.call(create, acme)
    expect([status, response]).toEqual([200, null])
    const location = headers.get('location')!
    expect(location).toMatch(/^\/api\/v1\/organization\/id\?organization_id=[\da-f-]{36}$/)
    const organizationId = location.split('=')[1]!
    expect((await management.call(get, { organization_id: organizationId })).response).toEqual({
      organization_id: organizationId,
      ...acme,
    })
  })

  it('are rejected without a required field, naming each', async () => {
    const { status, message, response } = await management.send(create, {
      organization_key: 'empty',
    })
    expect(status).toBe(400)
    for (const field of Object.keys(acme).filter(key => key !== 'organization_key')) {
      expect(message).toContain(`${field}: is required`)
    }
    expect(response).toMatchObject({
      fields: expect.arrayContaining([{ field: 'organization_name', reason: 'is required' }]),
    })
  })

  it('have unique keys', async () => {
    await management.call(create, { ...acme, organization_key: 'twice' })
    const { status, message } = await management.call(create, {
      ...acme,
      organization_key: 'twice',
    })
    expect([status, message]).toEqual([
      409,
      'organization_key: another organization has this already',
    ])
  })

  it('are updated with the fields that were read', async () => {
    const [first] = (await management.call(list)).response
    await management.call(update, { ...first!, organization_name: 'Acme & Sons' })
    const { response } = await management.call(get, { organization_id: first!.organization_id })
    expect(response).toEqual({ ...first, organization_name: 'Acme & Sons' })
  })

  it('cannot be updated by an admin of another organization who sees them', async () => {
    const { organization_id, site_id: siteId } = await createHierarchy(management, 'seen')
    const other = getCreatedId(
      await management.call(create, { ...acme, organization_key: 'other' }),
    )
    const admin = await management.signIn('admin', { organization: other, sites: [siteId] })
    const { response } = await management.call(get, { organization_id }, admin)
    expect((await management.call(update, response, admin)).status).toBe(403)
  })

  it('are deleted when they are empty', async () => {
    await management.call(create, { ...acme, organization_key: 'short-lived' })
    const { organization_id } = (await management.call(list)).response.find(
      each => each.organization_key === 'short-lived',
    )!
    expect((await management.call(remove, { organization_id })).status).toBe(200)
    const { status, message } = await management.call(get, { organization_id })
    expect([status, message]).toEqual([404, 'organization_id: no such organization'])
  })

  it('lose their images only when the deletion succeeds', async () => {
    const organizationId = getCreatedId(
      await management.call(create, { ...acme, organization_key: 'with images' }),
    )
    const admin = await management.signIn('admin', { organization: organizationId })
    const body = new FormData()
    body.set('image', await createJpegFile())
    const headers = { authorization: `Bearer ${admin.token}` }
    const uploaded = await management.request('/image/upload', { method: 'POST', headers, body })
    const shown = uploaded.headers.get('location')!.replace('/api/v1', '')
    const seen = async () => {
      const as = { authorization: `Bearer ${management.superadmin.token}` }
      return (await management.request(shown, { headers: as })).status
    }
    const files = () => readdirSync(join(management.data, 'management/images'))

    expect(await management.call(remove, { organization_id: organizationId })).toMatchObject({
      status: 409,
      message: 'a user still refers to it: delete or change that first',
    })
    expect([await seen(), files().length]).toEqual([200, 1])

    await management.call(managementRoutes.user.delete, { user_id: admin.user_id })
    expect((await management.call(remove, { organization_id: organizationId })).status).toBe(200)
    expect([await seen(), files().length]).toEqual([404, 0])
  })

  it.each(['no-uuid', '00000000-0000-7000-8000-000000000000'])(
    'are rejected with 404 for the id %s',
    async organizationId => {
      const { status, message } = await management.call(get, { organization_id: organizationId })
      expect([status, message]).toEqual([404, 'organization_id: no such organization'])
    },
  )
})
