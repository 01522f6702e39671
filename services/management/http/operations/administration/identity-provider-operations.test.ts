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
