import { randomUUID } from 'node:crypto'
import { managementRoutes } from '@eyrie/contract/management/index'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SignedIn } from '../../../../../test/fixtures/management.ts'
import { type ManagementRecords, plantRecords } from '../../../../../test/fixtures/management-records.ts'
import { sharedManagement } from '../../../../../test/fixtures/shared-management.ts'

const {
  id,
  info,
  list,
  update,
  delete: remove,
  status,
  register,
  auth,
  readConfig,
  updateConfig,
} = managementRoutes.user
const password = 'correct horse'

const its = sharedManagement()
let roleIds: Record<string, string>
let records: ManagementRecords
let admin: SignedIn

beforeAll(async () => {
  const roles = (await its.call(managementRoutes.role.list)).response
  roleIds = Object.fromEntries(roles.map(({ role_key, role_id }) => [role_key, role_id]))
}, 120_000)

beforeEach(async () => {
  records = await plantRecords(its.database)
  admin = await its.signIn('admin', { organization: records.organization_id })
})

/** An update that changes nothing. */
async function unchanged(user_id: string) {
  const { response } = await its.call(id, { user_id })
  return { ...response, change_password: false }
}

const registered = async (as: SignedIn | null) =>
  (
    await its.call(
      register,
      { email: `${randomUUID()}@eyrie.test`, first_name: '', last_name: '', password, role_key: '' },
      as,
    )
  ).response

describe('roles', () => {
  it('are listed, the highest first', () => {
    expect(Object.keys(roleIds)).toEqual(['superadmin', 'admin', 'manager', 'viewer'])
  })
})

describe('users', () => {
  it('change their own name, e-mail address and password, even a viewer', async () => {
    const viewer = await its.signIn('viewer')
    const email = `${randomUUID()}@eyrie.test`
    const changed = { ...(await unchanged(viewer.user_id)), email, first_name: 'Grace', last_name: 'Hopper' }
    const fresh = { change_password: true, password: 'another horse', confirm_password: 'another horse' }
    const { response } = await its.call(update, { ...changed, ...fresh }, viewer)
    expect(response).toMatchObject({ email, user_name: 'Grace Hopper', role_key: 'viewer' })
    expect((await its.call(auth, { email, password: 'another horse' }, null)).status).toBe(200)
    expect((await its.call(info, undefined, viewer)).response.email).toBe(email)
  })

  it('do not take an e-mail address that another has', async () => {
    const viewer = await its.signIn('viewer')
    const changed = { ...(await unchanged(viewer.user_id)), email: admin.email.toUpperCase() }
    expect((await its.send(update, changed, viewer)).status).toBe(409)
  })

  it.each([
    ['confirm_password', { password: 'another horse', confirm_password: 'other horse' }],
    ['password', { password: 'short', confirm_password: 'short' }],
  ])('confirm a new password, or %s is named', async (field, passwords) => {
    const wanted = { ...(await unchanged(admin.user_id)), ...passwords, change_password: true }
    const { status: code, message } = await its.send(update, wanted, admin)
    expect(code).toBe(400)
    expect(message).toMatch(new RegExp(`^${field}: `))
  })

  it.each(['role_id', 'organization_id'] as const)('give themselves no other %s', async field => {
    const manager = await its.signIn('manager', { customers: [records.customer_id] })
    const value = { role_id: roleIds.admin, organization_id: records.organization_id }[field]
    const wanted = { ...(await unchanged(manager.user_id)), [field]: value }
    expect((await its.send(update, wanted, manager)).status).toBe(403)
    const config = { user_id: manager.user_id, user_config: { [field]: value } }
    expect((await its.send(updateConfig, config, manager)).status).toBe(403)
  })

  it('assign nothing to themselves, but keep how the console looks to them', async () => {
    const viewer = await its.signIn('viewer', { sites: [records.site_id] })
    const { user_id } = viewer
    const config = (await its.call(readConfig, { user_id }, viewer)).response
    const user_config = { ...config, ui_config: { theme: 'dark' } }
    expect((await its.send(updateConfig, { user_id, user_config }, viewer)).status).toBe(200)
    expect((await its.call(info, undefined, viewer)).response.user_config.ui_config).toEqual({
      theme: 'dark',
    })
    const more = { user_id, user_config: { channel_ids: [records.channel_id] } }
    expect((await its.send(updateConfig, more, viewer)).status).toBe(403)
  })

  it('change no others, whether or not there are any', async () => {
    for (const role of ['viewer', 'manager'] as const) {
      const caller = await its.signIn(role, { sites: [records.site_id] })
      for (const user_id of [records.user_id, randomUUID()]) {
        const wanted = { ...(await unchanged(records.user_id)), user_id }
        expect((await its.send(update, wanted, caller)).status).toBe(403)
        const config = { user_id, user_config: { ui_config: {} } }
        expect((await its.send(updateConfig, config, caller)).status).toBe(403)
      }
    }
  })

  it('have a config that names no other user', async () => {
    const { user_id } = records
    const user_config = { user_id: its.superadmin.user_id }
    const { status, response } = await its.call(updateConfig, { user_id, user_config })
    expect([status, response]).toMatchObject([400, { fields: [{ field: 'user_config.user_id' }] }])
  })

  it('do not see others', async () => {
    const viewer = await its.signIn('viewer', { sites: [records.site_id] })
    expect((await its.call(list, undefined, viewer)).response.map(({ user_id }) => user_id)).toEqual([
      viewer.user_id,
    ])
    expect((await its.send(id, { user_id: records.user_id }, viewer)).status).toBe(404)
  })
})

describe('an administrator', () => {
  it('registers a user, verifies them, gives a role and assigns what may be seen', async () => {
    const { user_id, organization_id } = await registered(admin)
    expect(organization_id).toBe(records.organization_id)
    await its.call(status, { user_id, is_active: true, is_verified: true }, admin)
    await its.call(update, { ...(await unchanged(user_id)), role_id: roleIds.viewer! }, admin)
    const assigned = {
      customer_ids: [records.customer_id],
      site_ids: [records.site_id],
      channel_ids: [records.channel_id],
      usecase_ids: [records.usecase_id],
    }
    const user_config = { ...assigned, ui_config: { start: 'live' } }
    expect((await its.call(updateConfig, { user_id, user_config }, admin)).response).toBeNull()
    const { response } = await its.call(id, { user_id }, admin)
    expect(response).toMatchObject({ ...user_config, role_key: 'viewer', is_verified: true })
    await its.call(updateConfig, { user_id, user_config: { site_ids: [] } }, admin)
    expect((await its.call(readConfig, { user_id }, admin)).response).toMatchObject({
      ...assigned,
      site_ids: [],
    })
  })

  it('gives no role above their own', async () => {
    const wanted = { ...(await unchanged(records.user_id)), role_id: roleIds.superadmin! }
    const { status: code, message } = await its.send(update, wanted, admin)
    expect([code, message]).toEqual([403, 'role_id: nobody gives a role above their own, and yours is admin'])
  })

  it('assigns nothing that they do not see', async () => {
    const others = await plantRecords(its.database)
    const wanted = { user_id: records.user_id, user_config: { site_ids: [others.site_id] } }
    const { status: code, message } = await its.send(updateConfig, wanted, admin)
    expect([code, message]).toEqual([404, 'user_config.site_ids.0: no such site'])
  })

  it('touches no superadmin, not even one of their organization', async () => {
    const { user_id } = await registered(admin)
    await its.call(update, { ...(await unchanged(user_id)), role_id: roleIds.superadmin! })
    const above = await unchanged(user_id)
    expect((await its.send(update, above, admin)).status).toBe(403)
    expect((await its.send(status, { user_id, is_active: false, is_verified: true }, admin)).status).toBe(403)
    expect((await its.send(remove, { user_id }, admin)).status).toBe(403)
  })

  it('changes nobody who has something outside of what they administer', async () => {
    const others = await plantRecords(its.database)
    const shared = await its.signIn('viewer', { sites: [records.site_id, others.site_id] })
    const { user_id } = shared
    expect((await its.call(id, { user_id }, admin)).response.site_ids).toEqual([records.site_id])
    const takeOver = { change_password: true, password, confirm_password: password }
    expect((await its.send(update, { ...(await unchanged(user_id)), ...takeOver }, admin)).status).toBe(403)
    expect((await its.send(remove, { user_id }, admin)).status).toBe(403)
    const wanted = { user_id, user_config: { channel_ids: [records.channel_id] } }
    expect((await its.send(updateConfig, wanted, admin)).status).toBe(403)
  })

  it('makes nobody the administrator of another organization', async () => {
    const others = await plantRecords(its.database)
    const wanted = { ...(await unchanged(records.user_id)), organization_id: others.organization_id }
    expect((await its.send(update, wanted, admin)).status).toBe(404)
    expect((await its.send(update, { ...wanted, organization_id: null }, admin)).status).toBe(403)
  })

  it('ends the sessions of a user whose password they set', async () => {
    const viewer = await its.signIn('viewer', { sites: [records.site_id] })
    const fresh = { change_password: true, password, confirm_password: password }
    await its.call(update, { ...(await unchanged(viewer.user_id)), ...fresh }, admin)
    expect((await its.send(info, undefined, viewer)).status).toBe(401)
  })

  it('deletes a user, whose token opens nothing any more', async () => {
    const viewer = await its.signIn('viewer', { sites: [records.site_id] })
    expect((await its.call(remove, { user_id: viewer.user_id }, admin)).response).toBeNull()
    expect((await its.send(info, undefined, viewer)).status).toBe(401)
    expect((await its.send(id, { user_id: viewer.user_id })).status).toBe(404)
  })

  it('deletes a user once, who is not there for others that do so at the same moment', async () => {
    for (let n = 0; n < 5; n += 1) {
      const { user_id } = await its.signIn('viewer')
      const answers = await Promise.all(Array.from({ length: 6 }, () => its.call(remove, { user_id })))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404, 404])
    }
  })

  it('sets nothing but what an update names', async () => {
    const wanted = { ...(await unchanged(records.user_id)), is_verified: false, last_logged_in_at: null }
    await its.call(update, wanted, admin)
    expect((await its.call(id, { user_id: records.user_id })).response.is_verified).toBe(true)
    const { status: code, message } = await its.send(update, { ...wanted, password_hash: 'mine' }, admin)
    expect([code, message]).toEqual([400, 'password_hash: unknown field'])
  })
})

describe('the last superadmin', () => {
  it.each([
    [
      'demoted',
      update,
      async (user_id: string) => ({ ...(await unchanged(user_id)), role_id: roleIds.admin }),
    ],
    ['deactivated', status, async (user_id: string) => ({ user_id, is_active: false, is_verified: true })],
    ['deleted', remove, async (user_id: string) => ({ user_id })],
  ] as const)('is not %s', async (_, route, input) => {
    const { status: code, message } = await its.send(route, await input(its.superadmin.user_id))
    expect([code, message]).toEqual([409, 'this is the last superadmin who may act: make another one first'])
  })

  it('remains where two demote each other at the same moment', async () => {
    const other = await its.signIn('superadmin')
    const demoted = async ({ user_id }: SignedIn) => ({
      ...(await unchanged(user_id)),
      role_id: roleIds.admin!,
    })
    const wanted = [await demoted(other), await demoted(its.superadmin)] as const
    const answers = await Promise.all([
      its.send(update, wanted[0], its.superadmin),
      its.send(update, wanted[1], other),
    ])
    expect(answers.map(({ status: code }) => code).toSorted()).toEqual([200, expect.any(Number)])
    const left = [its.superadmin, other].map(async one => (await its.send(list, undefined, one)).response)
    expect((await Promise.all(left)).flat()).toContainEqual(
      expect.objectContaining({ role_key: 'superadmin' }),
    )
  })
})
