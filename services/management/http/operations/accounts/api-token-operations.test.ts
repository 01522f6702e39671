import { createHmac, type webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import type { SignedInUser } from '../../../../../test/fixtures/management/management.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { apiToken } from '../../../db/schema/index.ts'
import { createAccessTokens, loadSigningKeys } from '../../../users/access-tokens.ts'

const { create, list, delete: remove } = managementRoutes.token
const { getCurrent, update, get, register } = managementRoutes.user
const organizations = managementRoutes.organization

const management = sharedManagement()

const asToken = (token: string): SignedInUser => ({ ...management.superadmin, token })
const statusOf = async (token: string) =>
  (await management.send(getCurrent, undefined, asToken(token))).status

describe('API tokens', () => {
  it('are shown once, have a recognizable prefix, and are stored as a hash only', async () => {
    const { status, response } = await management.call(create, {
      name: 'dashboard',
      scopes: ['read'],
    })
    expect(status).toBe(201)
    expect(response).toMatchObject({
      name: 'dashboard',
      scopes: ['read'],
      expires_at: null,
      used_at: null,
    })
    expect(response.token).toMatch(/^eyrie_pat_[\w-]{43}$/)
    expect(JSON.stringify((await management.call(list)).response)).not.toContain(response.token)
    const rows = await management.database.system('test', tx => tx.select().from(apiToken))
    expect(JSON.stringify(rows)).not.toContain(response.token.slice('eyrie_pat_'.length))
    expect(await statusOf(response.token)).toBe(200)
    expect(
      (await management.call(list)).response.find(({ name }) => name === 'dashboard')!.used_at,
    ).not.toBeNull()
  })

  it('are limited to their scopes', async () => {
    const { response } = await management.call(create, {
      name: 'narrow',
      scopes: ['read:organization'],
    })
    const narrow = asToken(response.token)
    expect((await management.call(organizations.list, undefined, narrow)).status).toBe(200)
    const refused = await management.send(managementRoutes.site.list, {}, narrow)
    expect([refused.status, refused.message]).toEqual([
      403,
      '"List the sites of a customer" requires the scope read:site or read, and this API token has only read:organization: create another token, or sign in',
    ])
    expect((await management.send(organizations.delete, {}, narrow)).status).toBe(403)
  })

  it('cannot create further credentials, with any scope', async () => {
    const { response } = await management.call(create, { name: 'all', scopes: ['read', 'write'] })
    const all = asToken(response.token)
    expect((await management.send(create, { name: 'more', scopes: ['read'] }, all)).status).toBe(
      403,
    )
    const me = (await management.call(get, { user_id: management.superadmin.user_id })).response
    expect((await management.send(update, { ...me, change_password: false }, all)).status).toBe(403)
    const account = { email: 'created@eyrie.test', password: 'correct horse' }
    const registration = { ...account, first_name: 'Ada', last_name: 'Byron', role_key: 'admin' }
    expect((await management.send(register, registration, all)).status).toBe(403)
    expect((await management.send(register, registration)).status).toBe(201)
    const { customer, site } = managementRoutes
    for (const route of [customer.assign, customer.unassign, site.assign, site.unassign]) {
      expect(
        (await management.send(route, { user_id: me.user_id, site_id: [], customer_id: [] }, all))
          .status,
      ).toBe(403)
    }
  })

  it('are invalid after they expire or are deleted', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const {
      token,
      token_id: tokenId,
      expires_at: expiresAt,
    } = (await management.call(create, { name: 'short', scopes: ['read'], expires_at: soon }))
      .response
    expect([expiresAt, await statusOf(token)]).toEqual([soon, 200])
    const earlier = new Date(Date.now() - 1000)
    await management.database.system('test', tx =>
      tx.update(apiToken).set({ expires_at: earlier }).where(eq(apiToken.token_id, tokenId)),
    )
    expect(await statusOf(token)).toBe(401)
    expect((await management.call(remove, { token_id: tokenId })).status).toBe(200)
    expect((await management.send(remove, { token_id: tokenId })).status).toBe(404)
  })

  it.each([
    ['scopes', { name: 'a', scopes: [] }],
    ['scopes.0', { name: 'a', scopes: ['admin'] }],
    ['scopes.0', { name: 'a', scopes: ['write:nothing'] }],
    ['name', { name: ' ', scopes: ['read'] }],
    ['expires_at', { name: 'a', scopes: ['read'], expires_at: '2001-01-01T00:00:00Z' }],
  ])('are not created with an invalid %s', async (field, input) => {
    const { status, response } = await management.send(create, input)
    expect([status, response]).toMatchObject([400, { fields: [{ field }] }])
  })
})

describe('access tokens', () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const keysOf = () => loadSigningKeys(`${management.data}/secrets/signing-key.pem`)
  const claims = () =>
    JSON.parse(Buffer.from(management.superadmin.token.split('.')[1]!, 'base64url').toString())

  it('are accepted as issued', async () => {
    expect(await statusOf(management.superadmin.token)).toBe(200)
  })

  it('are rejected without a signature (alg none)', async () => {
    expect(await statusOf(`${part({ alg: 'none', typ: 'at+jwt' })}.${part(claims())}.`)).toBe(401)
  })

  it('are rejected when signed with the public key as shared secret (HS256)', async () => {
    const { publicKey } = await keysOf()
    const raw = Buffer.from(await crypto.subtle.exportKey('raw', publicKey))
    const pem = readFileSync(`${management.data}/secrets/signing-key.pem`)
    for (const secret of [raw, pem]) {
      const head = `${part({ alg: 'HS256', typ: 'at+jwt' })}.${part(claims())}`
      const signature = createHmac('sha256', secret).update(head).digest('base64url')
      expect(await statusOf(`${head}.${signature}`)).toBe(401)
    }
  })

  it('are rejected when altered', async () => {
    const [head, , signature] = management.superadmin.token.split('.')
    const changed = part({ ...claims(), sub: '00000000-0000-7000-8000-000000000000' })
    expect(await statusOf(`${head}.${changed}.${signature}`)).toBe(401)
  })

  it.each(['another issuer', 'another key', 'another kind of token'])(
    'are rejected with %s',
    async which => {
      const { sub, sid, exp } = claims()
      const other = (await crypto.subtle.generateKey('Ed25519', true, [
        'sign',
        'verify',
      ])) as webcrypto.CryptoKeyPair
      const { privateKey } = which === 'another key' ? other : await keysOf()
      const token = await new SignJWT({ sid })
        .setProtectedHeader({
          alg: 'EdDSA',
          typ: which === 'another kind of token' ? 'JWT' : 'at+jwt',
        })
        .setIssuer(which === 'another issuer' ? 'somebody' : 'eyrie')
        .setSubject(sub)
        .setIssuedAt()
        .setExpirationTime(exp)
        .sign(privateKey)
      expect(await statusOf(token)).toBe(401)
    },
  )

  it('are rejected after they expire', async () => {
    const yesterday = createAccessTokens(await keysOf(), () => new Date(Date.now() - 86_400_000))
    const { sub, sid } = claims()
    const { status, message, headers } = await management.send(
      getCurrent,
      undefined,
      asToken(await yesterday.sign({ user_id: sub, session_id: sid })),
    )
    expect([status, message]).toEqual([401, 'the access token has expired: refresh it'])
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  it.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer a b'])(
    'are not read from the header "%s"',
    async authorization => {
      expect((await management.request('/user/info', { headers: { authorization } })).status).toBe(
        401,
      )
    },
  )
})
