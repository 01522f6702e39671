import { allManagementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { sharedManagement } from '../../../../test/fixtures/management/shared-management.ts'

const management = sharedManagement()

async function ask(method: string, path: string) {
  const headers = { authorization: `Bearer ${management.superadmin.token}` }
  const reply = await management.request(path, { method, headers })
  const {
    message,
    response,
    response_code: responseCode,
  } = (await reply.json()) as Record<string, unknown>
  expect(responseCode).toBe(reply.status)
  return { status: reply.status, message, response, headers: reply.headers }
}

describe('queries', () => {
  const get = (query: string) => ask('GET', `/organization/id${query}`)

  it('with an unknown parameter are rejected, naming it', async () => {
    const { status, response } = await get('?organization_id=x&force=true&__proto__=1')
    expect(status).toBe(400)
    expect(response).toMatchObject({
      fields: expect.arrayContaining([
        { field: 'force', reason: 'unknown field' },
        { field: '__proto__', reason: 'unknown field' },
      ]),
    })
  })

  it.each(['?organization_id=', ''])('of "%s" are rejected, naming the missing id', async query => {
    const reason = query ? 'must not be empty' : 'is required'
    expect(await get(query)).toMatchObject({
      status: 400,
      response: { fields: [{ field: 'organization_id', reason }] },
    })
  })

  it.each([
    ['audit_offset', ''],
    ['audit_offset', '-1'],
    ['audit_offset', '1.5'],
    ['audit_limit', '0'],
    ['audit_limit', '0x10'],
    ['audit_limit', 'all'],
  ])('of %s=%s are rejected, naming the parameter', async (field, value) => {
    const reply = await ask('GET', `/audit/list?${field}=${value}`)
    expect(reply).toMatchObject({ status: 400, response: { fields: [{ field }] } })
  })

  it('with a repeated parameter are rejected with an explanation', async () => {
    const reason = 'may be specified only once'
    expect(await ask('GET', '/audit/list?audit_limit=1&audit_limit=2')).toMatchObject({
      status: 400,
      response: { fields: [{ field: 'audit_limit', reason }] },
    })
  })

  it('may request more than one page contains', async () => {
    expect((await ask('GET', '/audit/list?audit_limit=1000000&audit_offset=3')).status).toBe(200)
  })

  it.each(['?organization_id=%00', '?organization_id=a&organization_id=b', '?organization_id[]=a'])(
    'of %s are rejected',
    async query => {
      expect(await get(query)).toMatchObject({ status: 400 })
    },
  )
})

describe('paths', () => {
  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'reject %s with 405 and list their methods in Allow',
    async method => {
      for (const path of new Set(allManagementRoutes.map(route => route.path))) {
        const { status, headers } = await ask(method, path)
        const allowed = headers.get('allow')?.split(', ') ?? []
        expect({ path, status }).toEqual({ path, status: 405 })
        for (const route of allManagementRoutes.filter(other => other.path === path)) {
          expect(allowed).toContain(route.method.toUpperCase())
        }
      }
    },
  )

  it.each([
    '/',
    '/organization',
    '/organization/list/',
    '/Organization/list',
    '/x/../organization/none',
    '/%00',
  ])('that do not exist are rejected with 404 in the envelope: %s', async path => {
    expect(await ask('GET', path)).toMatchObject({ status: 404, response: null })
    expect(await ask('POST', path)).toMatchObject({ status: 404, response: null })
  })
})
