import { expect, it, vi } from 'vitest'
import { deviceInput, organizationInput } from '../fixtures/management/hierarchy.ts'
import type { Appliance } from '../fixtures/processes/appliance.ts'
import { administrator as owner } from './attacked-appliance.ts'

// The attacker is an administrator of one organization, with bad intent towards the
// others and the appliance.

const attacker = { email: 'attacker@eyrie.test', password: 'incorrect horse battery staple' }

type Call = (
  path: string,
  body?: object,
) => Promise<{ status: number; response: unknown; text: string }>

/** Calls operations of management. `token` authenticates the caller. */
const createCaller =
  ({ consoleUrl }: Appliance, token?: string): Call =>
  async (path, body) => {
    const answer = await fetch(`${consoleUrl}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, response: JSON.parse(text).response, text }
  }

async function signIn(appliance: Appliance, { email, password }: typeof owner) {
  const call = createCaller(appliance)
  // The database may still be starting.
  const { response } = await vi.waitFor(async () => {
    const answer = await call('/user/auth', { email, password })
    expect(answer.status, answer.text).toBe(200)
    return answer
  })
  const { access_token: accessToken, user } = response as {
    access_token: string
    user: { user_id: string }
  }
  return { call: createCaller(appliance, accessToken), userId: user.user_id }
}

/** Creates an organization, and the attacker as its administrator. Returns the caller of both. */
async function createAttacker(appliance: Appliance) {
  const { call } = await signIn(appliance, owner)
  for (const key of ['hostile', 'victim']) {
    await call('/organization/create', organizationInput(key))
  }
  const organizations = (await call('/organization/list')).response as {
    organization_id: string
    organization_key: string
  }[]
  const roles = (await call('/role/list')).response as { role_id: string; role_key: string }[]
  const getRole = (key: string) => roles.find(({ role_key }) => role_key === key)!.role_id
  const own = organizations.find(({ organization_key }) => organization_key === 'hostile')!
  const others = organizations.filter(organization => organization !== own)
  await call('/user/register', {
    ...attacker,
    first_name: 'Mallory',
    last_name: 'Hostile',
    role_key: 'superadmin',
  })
  const users = (await call('/user/list')).response as { user_id: string; email: string }[]
  const { user_id } = users.find(({ email }) => email === attacker.email)!
  const ownerId = users.find(({ email }) => email === owner.email)!.user_id
  const { organization_id } = own
  await call('/user/status', { user_id, is_active: true, is_verified: true })
  const config = { user_id, user_config: { role_id: getRole('admin'), organization_id } }
  const assigned = await call('/user/config/update', config)
  expect(assigned.status, assigned.text).toBe(200)
  return { owner: call, organization_id, others, ownerId, superadmin: getRole('superadmin') }
}

export const attackByAdministrator = (appliance: Appliance) =>
  it('a hostile organization administrator gains no rights, sees nothing of others, and cannot lead the appliance elsewhere', {
    timeout: 240_000,
  }, async () => {
    const created = await createAttacker(appliance)
    const { call, userId } = await signIn(appliance, attacker)

    const visible = (await call('/organization/list')).response as { organization_id: string }[]
    expect(visible.map(({ organization_id }) => organization_id)).toEqual([created.organization_id])
    expect(created.others.length).toBeGreaterThan(0)
    for (const { organization_id: organizationId } of created.others) {
      expect((await call(`/organization/id?organization_id=${organizationId}`)).status).toBe(404)
    }
    expect((await call('/channel/list')).response).toEqual([])

    const engine = {
      ...{
        engine_name: 'Inner',
        engine_address: '127.0.0.1',
        engine_port: 22,
        engine_is_secure: false,
      },
      ...{ engine_timeout: '5s', engine_key: 'key', site_ids: [] },
      engine_retry: { disable_backoff: false, times: 0, wait_base: 1000 },
      organization_id: created.organization_id,
    }
    const device = deviceInput(created.organization_id, created.organization_id, 'foreign')
    const self = { user_id: userId, email: attacker.email, change_password: false }
    const victim = {
      user_id: created.ownerId,
      email: attacker.email,
      change_password: false,
      role_id: null,
    }
    const smtp = {
      ...{
        smtp_host: 'mail.hostile.test',
        smtp_port: 25,
        smtp_auth: false,
        smtp_attachment: false,
      },
      ...{
        smtp_username: '',
        smtp_password: '',
        smtp_from: attacker.email,
        smtp_to: attacker.email,
      },
    }
    const attempts: [string, object][] = [
      ['/engine/create', engine],
      ['/device/create', device],
      ['/user/update', { ...self, role_id: created.superadmin }],
      ['/user/config/update', { user_id: userId, user_config: { role_id: created.superadmin } }],
      [
        '/user/config/update',
        { user_id: userId, user_config: { organization_id: created.others[0]!.organization_id } },
      ],
      ['/user/update', victim],
      ['/user/delete', { user_id: created.ownerId }],
      ['/organization/create', organizationInput('second')],
      ['/organization/delete', { organization_id: created.others[0]!.organization_id }],
      ['/config/smtp/update', smtp],
    ]
    for (const [path, body] of attempts) {
      const { status, text } = await call(path, body)
      expect([403, 404, 409], `${path}: ${text}`).toContain(status)
    }
    expect((await created.owner('/user/info')).status).toBe(200)
  })
