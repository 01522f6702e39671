import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { sharedProviderSignIn } from '../../../../../test/fixtures/management/provider-sign-in.ts'

const { config } = managementRoutes
const { management, settings, openBrowser } = sharedProviderSignIn()

describe('the settings of the identity provider', () => {
  it('hide the secret, which is stored encrypted', async () => {
    const { response } = await management.call(config.getOidc)
    expect(response).toEqual({
      ...settings(),
      oidc_scopes: 'openid profile email',
      oidc_client_secret: '***',
    })
    await management.call(config.updateOidc, { ...response, oidc_name: 'Other' })
    expect((await openBrowser().signIn()).location).toBe('/')
  })

  it('keep the secret only for the same issuer', async () => {
    for (const secret of [{}, { oidc_client_secret: '***' }]) {
      const input = { oidc_issuer: 'https://attacker.test', ...secret }
      const answer = await management.send(config.updateOidc, input)
      expect([answer.status, answer.message]).toEqual([
        400,
        'oidc_client_secret: must be sent again, because the issuer changes',
      ])
    }
  })

  it('are not overwritten by an update of settings that were changed since', async () => {
    const { token } = management.superadmin
    const update = (ifMatch: string, changes: object) =>
      management.request(config.updateOidc.path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'if-match': ifMatch,
        },
        body: JSON.stringify(changes),
      })
    const { headers } = await management.call(config.getOidc)
    const read = headers.get('etag') ?? ''
    const updates = await Promise.all([
      update(read, { oidc_client_secret: 'xyzzy' }),
      update(read, { oidc_client_secret: 'plugh' }),
    ])
    expect(updates.map(({ status }) => status).sort()).toEqual([200, 412])

    const saved = updates.find(({ ok }) => ok)!.headers.get('etag') ?? ''
    expect((await management.call(config.getOidc)).headers.get('etag')).toBe(saved)
    expect((await update(saved, { oidc_name: 'Other' })).status).toBe(200)
    expect((await update(saved, { oidc_name: 'Third' })).status).toBe(412)
    const { response } = await management.call(config.getOidc)
    expect(response).toMatchObject({ oidc_name: 'Other' })
  })

  it.each([
    [{ oidc_issuer: 'http://provider.test' }, 'oidc_issuer: must be an https:// address'],
    [{ oidc_issuer: 'https://provider.test?a=b' }, 'oidc_issuer: must be an https:// address'],
    [
      { oidc_console_url: 'https://eyrie.test/x' },
      'oidc_console_url: must be an https:// address without a path',
    ],
    [{ oidc_scopes: 'profile' }, 'oidc_scopes: must contain openid'],
    [{ oidc_client_id: ' ' }, 'oidc_client_id: is required to switch the provider on'],
  ])('reject %o', async (changes, reason) => {
    const answer = await management.send(config.updateOidc, changes)
    expect([answer.status, answer.message]).toEqual([400, reason])
  })

  it('reject an organization, a customer or a site that does not exist', async () => {
    const missing = '00000000-0000-7000-8000-000000000000'
    const entry = { group: 'g', role_key: 'viewer', site_ids: [missing] }
    const answer = await management.send(config.updateOidc, { oidc_group_roles: [entry] })
    expect([answer.status, answer.message]).toEqual([
      404,
      'oidc_group_roles.0.site_ids.0: no such site',
    ])
  })
})
