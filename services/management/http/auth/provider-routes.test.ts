import { managementRoutes, type OidcSettings } from '@eyrie/contract/management/index'
import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { SignedInUser } from '../../../../test/fixtures/management/management.ts'
import {
  CONSOLE,
  refused,
  sharedProviderSignIn,
} from '../../../../test/fixtures/management/provider-sign-in.ts'
import { insertRecords } from '../../../../test/fixtures/management/records.ts'
import { startIdentityProvider } from '../../../../test/fixtures/network/identity-provider.ts'
import { shared } from '../../../../test/fixtures/setup/shared.ts'

const { user, audit } = managementRoutes
const { management, records, provider, settings, configure, chooseAccount, openBrowser, request } =
  sharedProviderSignIn()

describe('a sign-in with the identity provider', () => {
  it('creates the user with the rights of the groups, and starts a session', async () => {
    const { email } = chooseAccount()
    const browser = openBrowser()
    expect(await browser.signIn()).toEqual({
      location: '/',
      email,
      role: 'viewer',
      failure: undefined,
    })
    expect([...browser.cookies.keys()]).toEqual(['eyrie_session'])

    const users = (await management.call(user.list)).response
    const created = users.find(found => found.email === email)!
    expect(created).toMatchObject({
      first_name: 'Ada',
      last_name: 'Byron',
      role_key: 'viewer',
      is_verified: true,
      site_ids: [records.site_id],
    })
    const entries = await management.call(audit.list, { record: 'user_identity' })
    expect(entries.response[0]).toMatchObject({
      change: 'create',
      after: { user_id: created.user_id },
    })
  })

  it('sends PKCE with S256, state and nonce, and keeps them in a cookie that scripts cannot read', async () => {
    const response = await request(`${CONSOLE}/session/provider`)
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    expect(searchParams.get('code_challenge_method')).toBe('S256')
    for (const name of ['code_challenge', 'state', 'nonce']) {
      expect(searchParams.get(name)?.length).toBeGreaterThan(40)
    }
    const [cookie = ''] = response.headers.getSetCookie()
    expect(cookie).toMatch(
      /^eyrie_provider=sealed1[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    for (const name of ['state', 'nonce']) expect(cookie).not.toContain(searchParams.get(name))

    const overTls = await request('https://eyrie.test/session/provider')
    expect(overTls.headers.getSetCookie()[0]).toMatch(/^__Host-eyrie_provider=.*; Secure;/)
  })

  it('evaluates the groups again each time', async () => {
    const { email } = chooseAccount()
    await openBrowser().signIn()
    const { customer_id: customerId, organization_id } = records
    const admins = {
      group: 'admins',
      role_key: 'admin' as const,
      organization_id,
      customer_ids: [customerId],
    }
    const groupRoles = [...settings().oidc_group_roles!, { ...admins, site_ids: [] }]
    await configure({ oidc_group_roles: groupRoles })
    provider.answers.account.claims.groups = ['viewers', 'admins', 'unknown']
    expect(await openBrowser().signIn()).toMatchObject({ email, role: 'admin' })
    const found = (await management.call(user.list)).response.find(row => row.email === email)
    expect(found).toMatchObject({ organization_id, customer_ids: [customerId], site_ids: [] })
  })

  it('is refused without a group that has a role, and ends the sessions of a user who had one', async () => {
    chooseAccount({ groups: ['others'] })
    const reason =
      'none of your groups at Test Provider has a role on this appliance: ask an administrator'
    expect(await openBrowser().signIn()).toEqual(refused(reason))

    provider.answers.account.claims.groups = ['viewers']
    const earlier = openBrowser()
    await earlier.signIn()
    provider.answers.account.claims.groups = []
    expect(await openBrowser().signIn()).toEqual(refused(reason))
    expect((await earlier.readStatus()).user).toBeNull()
  })

  it('reads claims that only the response about the user contains', async () => {
    const { email } = chooseAccount()
    provider.answers.replaceIdToken = token => {
      const { email: _, email_verified: __, groups: ___, ...claims } = decodeJwt(token)
      return provider.sign(claims)
    }
    expect(await openBrowser().signIn()).toMatchObject({ email, role: 'viewer' })
  })

  it('is refused for a deactivated user', async () => {
    const { email } = chooseAccount()
    await openBrowser().signIn()
    const { user_id } = (await management.call(user.list)).response.find(
      row => row.email === email,
    )!
    await management.call(user.setStatus, { user_id, is_active: false, is_verified: true })
    expect((await openBrowser().signIn()).failure).toBe(
      'this user is not active: ask an administrator',
    )
  })

  it('is refused while it is switched off', async () => {
    await configure({ oidc_enabled: false })
    const browser = openBrowser()
    expect((await browser.readStatus()).provider).toBeUndefined()
    expect(await browser.start()).toBe('/sign-in')
    expect((await browser.readStatus()).failure).toBe(
      'signing in with an identity provider is switched off',
    )
  })
})

describe('a user of the appliance', () => {
  const findUser = async (email: string) =>
    (await management.call(user.list)).response.find(found => found.email === email)!

  async function register(email: string): Promise<SignedInUser> {
    const names = { first_name: 'Ada', last_name: 'Byron', role_key: 'viewer' }
    const account = { email, password: 'correct horse' }
    const { user_id } = (await management.call(user.register, { ...account, ...names })).response
    await management.call(user.setStatus, { user_id, is_active: true, is_verified: true })
    const { access_token: accessToken } = (await management.call(user.auth, account, null)).response
    return { user_id, email, token: accessToken }
  }

  it('is not taken over by an account with the same e-mail address', async () => {
    const { email } = chooseAccount()
    await register(email)
    expect(await openBrowser().signIn()).toEqual(
      refused(
        `the user ${email} exists already and is not connected with this account: ask an administrator`,
      ),
    )
  })

  it('is connected when the settings allow it, and then has no password', async () => {
    await configure({ oidc_links_by_email: true })
    const { email } = chooseAccount()
    const registered = await register(email)
    expect(await openBrowser().signIn()).toMatchObject({ email, role: 'viewer' })
    expect((await management.send(user.getCurrent, undefined, registered)).status).toBe(401)
    const byPassword = await management.send(user.auth, { email, password: 'correct horse' }, null)
    expect([byPassword.status, byPassword.message]).toEqual([
      403,
      'your identity provider signs you in: use its button on the sign-in page',
    ])
  })

  it('may use the password while the provider is switched off, and not after that', async () => {
    await configure({ oidc_links_by_email: true })
    const { email } = chooseAccount()
    await register(email)
    await openBrowser().signIn()
    const signIn = () => management.send(user.auth, { email, password: 'correct horse' }, null)

    await configure({ oidc_enabled: false })
    expect((await signIn()).status).toBe(200)
    await configure({ oidc_links_by_email: true })
    expect((await signIn()).status).toBe(403)
    expect(await openBrowser().signIn()).toMatchObject({ email, role: 'viewer' })
  })

  it('without a password receives one from an administrator while the provider is off', async () => {
    const { email } = chooseAccount()
    await openBrowser().signIn()
    await configure({ oidc_enabled: false })
    const { user_id, role_id } = await findUser(email)
    const password = 'correct horse'
    const change = { change_password: true, password, confirm_password: password }
    await management.call(user.update, { user_id, role_id, email, ...change })
    const { access_token: token } = (await management.call(user.auth, { email, password }, null))
      .response
    const totp = await management.call(managementRoutes.user.getTotp, undefined, {
      ...{ user_id, email, token },
    })
    expect(totp.response.has_provider).toBe(false)
  })

  describe('after the issuer has changed', () => {
    const newProvider = shared(
      () => startIdentityProvider(`${CONSOLE}/session/provider/callback`),
      started => started.close(),
    )

    /** Connects a user with a password, and then changes the issuer. */
    async function connectAndMove(changes: Partial<OidcSettings>) {
      await configure({ oidc_links_by_email: true })
      const { email } = chooseAccount()
      const { user_id } = await register(email)
      await openBrowser().signIn()
      newProvider.answers.account = provider.answers.account
      await configure({ oidc_issuer: newProvider.issuer, ...changes })
      return { email, user_id }
    }

    async function signInWithNewProvider() {
      const browser = openBrowser()
      return browser.comeBack(await newProvider.signIn(await browser.start()))
    }

    const signInWithPassword = (email: string) =>
      management.send(user.auth, { email, password: 'correct horse' }, null)

    it('may use the password until it is connected with the new account', async () => {
      const { email, user_id } = await connectAndMove({ oidc_links_by_email: true })
      expect((await signInWithPassword(email)).status).toBe(200)
      expect(await signInWithNewProvider()).toMatchObject({ email, role: 'viewer' })
      expect(await findUser(email)).toMatchObject({ user_id })
      expect((await signInWithPassword(email)).status).toBe(403)
    })

    it('is not connected with the new account unless the settings allow it', async () => {
      const { email } = await connectAndMove({ oidc_links_by_email: false })
      expect((await signInWithNewProvider()).failure).toBe(
        `the user ${email} exists already and is not connected with this account: ask an administrator`,
      )
      expect((await signInWithPassword(email)).status).toBe(200)
    })

    it('is not connected with an account whose address is not verified', async () => {
      await connectAndMove({ oidc_links_by_email: true })
      newProvider.answers.account.claims.email_verified = false
      expect((await signInWithNewProvider()).failure).toContain('has not verified')
    })
  })

  it('is not connected with a second account', async () => {
    await configure({ oidc_links_by_email: true })
    const { email } = chooseAccount()
    await openBrowser().signIn()
    chooseAccount({ email })
    expect((await openBrowser().signIn()).failure).toContain('is not connected with this account')
  })

  describe('whose account at the provider was deleted and created again', () => {
    /** Signs in a user, and replaces the account by one with the same e-mail address. */
    async function recreateAccount(changes: Partial<OidcSettings>) {
      await configure(changes)
      const { email } = chooseAccount()
      const browser = openBrowser()
      await browser.signIn()
      chooseAccount({ email })
      const { user_id } = await findUser(email)
      const disconnect = (as?: SignedInUser) =>
        management.send(user.deleteIdentity, { user_id }, as)
      return { email, user_id, browser, disconnect }
    }

    it('is connected with the new account after an administrator has disconnected the old one', async () => {
      const { email, user_id, browser, disconnect } = await recreateAccount({
        oidc_links_by_email: true,
      })
      const { organization_id: organization } = await insertRecords(management.database)
      const stranger = await management.signIn('admin', { organization })
      expect((await disconnect(stranger)).status).toBe(404)
      expect((await openBrowser().signIn()).failure).toContain('is not connected')

      expect((await disconnect()).status).toBe(200)
      expect((await browser.readStatus()).user).toBeNull()
      expect(await openBrowser().signIn()).toMatchObject({ email, role: 'viewer' })
      expect(await findUser(email)).toMatchObject({ user_id })
      const entries = await management.call(audit.list, { record: 'user_identity' })
      expect(entries.response).toContainEqual(
        expect.objectContaining({
          actor: management.superadmin.email,
          operation: '/user/identity/delete',
          change: 'delete',
        }),
      )
    })

    it('is not connected with the new account unless the settings allow it', async () => {
      const { disconnect } = await recreateAccount({ oidc_links_by_email: false })
      expect((await disconnect()).status).toBe(200)
      expect((await openBrowser().signIn()).failure).toContain('is not connected')
    })
  })

  it.each([{ email_verified: false }, { email_verified: 'true' }, { email_verified: undefined }])(
    'is neither connected nor created when the address is not verified: %o',
    async claims => {
      await configure({ oidc_links_by_email: true })
      chooseAccount(claims)
      expect(await openBrowser().signIn()).toEqual(
        refused('Test Provider has not verified your e-mail address: verify it there first'),
      )
    },
  )

  it('is not created unless the settings allow it', async () => {
    await configure({ oidc_creates_users: false })
    const { email } = chooseAccount()
    expect(await openBrowser().signIn()).toEqual(
      refused(`there is no user for ${email} on this appliance: ask an administrator`),
    )
  })

  it('is created once by two sign-ins at the same moment', async () => {
    const { email } = chooseAccount()
    const results = await Promise.all([openBrowser().signIn(), openBrowser().signIn()])
    expect(results.map(result => result.email)).toEqual([email, email])
  })
})
