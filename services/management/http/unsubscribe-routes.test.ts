import { managementRoutes } from '@eyrie/contract/management/index'
import { listen } from '@eyrie/kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser/browser.ts'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { createWholeApp } from '../../../test/fixtures/management/whole-app.ts'
import { createUnsubscribeToken } from '../deliveries/unsubscribed-addresses.ts'

const routes = managementRoutes.delivery
const management = sharedManagement()

const toPath = (token: string) => `/unsubscribe?${new URLSearchParams({ token })}`

const request = (token: string, form?: string | FormData) =>
  createWholeApp(management).request(toPath(token), {
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

  it('unsubscribes and subscribes again by its buttons in a browser', async () => {
    const service = { app: createWholeApp(management), health: () => ({ ok: true }) }
    const [browser, server] = await Promise.all([openBrowser(), listen(service, '127.0.0.1', 0)])
    onTestFinished(async () => {
      await Promise.all([browser.close(), server.close()])
    })
    const page = await browser.newPage()
    const address = 'browser@example.com'
    await page.goto(`http://127.0.0.1:${server.port}${toPath(createToken(address))}`)

    await page.getByRole('button', { name: 'Stop summaries' }).click()
    await page.getByText(`${address} receives no more summaries.`).waitFor()
    expect(await listAddresses()).toContain(address)

    await page.getByRole('button', { name: 'Receive summaries again' }).click()
    await page.getByText(`${address} receives summaries of alerts.`).waitFor()
    expect(await listAddresses()).not.toContain(address)
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
