import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { createUnsubscribeToken } from '../deliveries/unsubscribed-addresses.ts'
import { createUnsubscribeRoutes } from './unsubscribe-routes.ts'

const routes = managementRoutes.delivery
const management = sharedManagement()

const request = (token: string, form?: string | FormData) =>
  createUnsubscribeRoutes({
    database: () => management.database,
    secrets: () => management.scheduler.secrets,
  }).request(`/unsubscribe?${new URLSearchParams({ token })}`, {
    ...(form !== undefined && {
      method: 'POST',
      body: form,
      ...(typeof form === 'string' && {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    }),
  })

const createToken = (address: string) =>
  createUnsubscribeToken(address, management.scheduler.secrets)
const listAddresses = async () => {
  const { response } = await management.call(routes.unsubscribedList)
  return response.map(({ address }) => address)
}

describe('the page to which digests link', () => {
  it('unsubscribes with one click of a mail program, which sends a form of either kind', async () => {
    const multipart = new FormData()
    multipart.set('List-Unsubscribe', 'One-Click')
    const forms = {
      'first@example.com': 'List-Unsubscribe=One-Click',
      'second@example.com': multipart,
    }
    for (const [address, form] of Object.entries(forms)) {
      expect((await request(createToken(address), form)).status).toBe(200)
      expect(await listAddresses()).toContain(address)
    }
  })

  it('changes nothing when a program opens the link, and asks a person', async () => {
    const page = await request(createToken('Third@Example.com'))
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('third@example.com receives summaries')
    expect(await listAddresses()).not.toContain('third@example.com')
  })

  it('subscribes again, as the superadmin can do too', async () => {
    const token = createToken('fourth@example.com')
    await request(token, 'digests=off')
    expect(await (await request(token)).text()).toContain('receives no more summaries')
    await request(token, 'digests=on')
    expect(await listAddresses()).not.toContain('fourth@example.com')

    await request(token, 'digests=off')
    const deletion = await management.call(routes.unsubscribedDelete, {
      address: 'Fourth@example.com',
    })
    expect(deletion.status).toBe(200)
    expect(await listAddresses()).not.toContain('fourth@example.com')
    const again = await management.call(routes.unsubscribedDelete, {
      address: 'fourth@example.com',
    })
    expect([again.status, again.message]).toEqual([400, expect.stringContaining('address')])
  })

  it('refuses a token that this appliance has not created for it', async () => {
    const other = management.scheduler.secrets.encrypt('fifth@example.com')
    for (const token of [
      '',
      'fifth@example.com',
      other,
      createToken('fifth@example.com').slice(0, -8),
    ]) {
      expect((await request(token, 'digests=off')).status).toBe(400)
    }
    expect(await listAddresses()).not.toContain('fifth@example.com')
  })

  it('shows an address as text', async () => {
    const page = await (await request(createToken('<script>@example.com'))).text()
    expect(page).toContain('&lt;script&gt;@example.com')
    expect(page).not.toContain('<script>')
  })
})
