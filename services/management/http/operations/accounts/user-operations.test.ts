import { randomUUID } from 'node:crypto'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SignedInUser } from '../../../../../test/fixtures/management/management.ts'
import {
  insertRecords,
  type ManagementRecords,
} from '../../../../../test/fixtures/management/records.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { session } from '../../../db/schema/index.ts'

const {
  get,
  getCurrent,
  list,
  update,
  delete: remove,
  setStatus,
  register,
  auth,
  getConfig,
  updateConfig,
} = managementRoutes.user
const password = 'correct horse'

const management = sharedManagement()
let roleIds: Record<string, string>
let records: ManagementRecords
let admin: SignedInUser

beforeAll(async () => {
  const roles = (await management.call(managementRoutes.role.list)).response
  roleIds = Object.fromEntries(roles.map(({ role_key, role_id }) => [role_key, role_id]))
}, 180_000)

beforeEach(async () => {
  records = await insertRecords(management.database)
  admin = await management.signIn('admin', { organization: records.organization_id })
})

/** Returns an update that changes nothing. */
async function unchanged(userId: string) {
  const { response } = await management.call(get, { user_id: userId })
  return { ...response, change_password: false }
}

const registered = async (as: SignedInUser | null) =>
  (
    await management.call(
      register,
      {
        email: `${randomUUID()}@eyrie.test`,
        first_name: '',
        last_name: '',
        password,
        role_key: '',
      },
      as,
    )
  ).response

describe('roles', () => {
  it('are listed from highest to lowest', () => {
    expect(Object.keys(roleIds)).toEqual(['superadmin', 'admin', 'manager', 'viewer'])
  })
})

describe('users', () => {
  it('can change their own name, e-mail address and password, even as viewers', async () => {
    const viewer = await management.signIn('viewer')
    const email = `${randomUUID()}@eyrie.test`
    const changed = {
      ...(await unchanged(viewer.user_id)),
      email,
      first_name: 'Grace',
      last_name: 'Hopper',
    }
    const fresh = {
      change_password: true,
      password: 'another horse',
      confirm_password: 'another horse',
    }
    const { response } = await management.call(update, { ...changed, ...fresh }, viewer)
    expect(response).toMatchObject({ email, user_name: 'Grace Hopper', role_key: 'viewer' })
    expect((await management.call(auth, { email, password: 'another horse' }, null)).status).toBe(
      200,
    )
    expect((await management.call(getCurrent, undefined, viewer)).response.email).toBe(email)
  })

  it('cannot change a password or e-mail address without the current password long after sign-in', async () => {
    const { user_id: userId, email } = await registered(management.superadmin)
    await management.call(setStatus, { user_id: userId, is_active: true, is_verified: true })
    const { access_token: accessToken } = (await management.call(auth, { email, password }, null))
      .response
    const me = { user_id: userId, email, token: accessToken }
    await management.database.system('test', tx =>
      tx
        .update(session)
        .set({ created_at: new Date(Date.now() - 300_000) })
        .where(eq(session.user_id, userId)),
    )
    const same = await unchanged(userId)
    expect((await management.send(update, { ...same, first_name: 'Grace' }, me)).status).toBe(200)
    const fresh = {
      change_password: true,
      password: 'another horse',
      confirm_password: 'another horse',
    }
    for (const changes of [fresh, { email: `${randomUUID()}@eyrie.test` }]) {
      const attempt = { ...same, ...changes }
      const missing = await management.send(update, attempt, me)
      expect([missing.status, missing.message]).toEqual([
        403,
        'current_password: is required to change a password or an e-mail address',
      ])
      const wrong = await management.send(update, { ...attempt, current_password: 'guessed' }, me)
      expect([wrong.status, wrong.message]).toEqual([403, 'current_password: is not your password'])
    }
    expect(
      (await management.send(update, { ...same, ...fresh, current_password: password }, me)).status,
    ).toBe(200)
  }, 180_000)

  it('cannot use the e-mail address of another user', async () => {
    const viewer = await management.signIn('viewer')
    const changed = { ...(await unchanged(viewer.user_id)), email: admin.email.toUpperCase() }
    expect((await management.send(update, changed, viewer)).status).toBe(409)
  })

  it.each([
    ['confirm_password', { password: 'another horse', confirm_password: 'other horse' }],
    ['password', { password: 'short', confirm_password: 'short' }],
  ])('must confirm a valid new password, otherwise %s is reported', async (field, passwords) => {
    const changes = { ...(await unchanged(admin.user_id)), ...passwords, change_password: true }
    const { status: code, message } = await management.send(update, changes, admin)
    expect(code).toBe(400)
    expect(message).toMatch(new RegExp(`^${field}: `))
  })

  it.each(['role_id', 'organization_id'] as const)('cannot change their own %s', async field => {
    const manager = await management.signIn('manager', { customers: [records.customer_id] })
    const value = { role_id: roleIds.admin, organization_id: records.organization_id }[field]
    const changes = { ...(await unchanged(manager.user_id)), [field]: value }
    expect((await management.send(update, changes, manager)).status).toBe(403)
    const config = { user_id: manager.user_id, user_config: { [field]: value } }
    expect((await management.send(updateConfig, config, manager)).status).toBe(403)
  })

  it('cannot assign anything to themselves, but can store their console layout', async () => {
    const viewer = await management.signIn('viewer', { sites: [records.site_id] })
    const { user_id } = viewer
    const config = (await management.call(getConfig, { user_id }, viewer)).response
    const userConfig = { ...config, ui_config: { theme: 'dark' } }
    expect(
      (await management.send(updateConfig, { user_id, user_config: userConfig }, viewer)).status,
    ).toBe(200)
    expect(
      (await management.call(getCurrent, undefined, viewer)).response.user_config.ui_config,
    ).toEqual({
      theme: 'dark',
    })
    const more = { user_id, user_config: { channel_ids: [records.channel_id] } }
    expect((await management.send(updateConfig, more, viewer)).status).toBe(403)
  })

  it('cannot change other users, and do not learn whether these exist', async () => {
    for (const role of ['viewer', 'manager'] as const) {
      const caller = await management.signIn(role, { sites: [records.site_id] })
      for (const userId of [records.user_id, randomUUID()]) {
        const changes = { ...(await unchanged(records.user_id)), user_id: userId }
        expect((await management.send(update, changes, caller)).status).toBe(403)
        const config = { user_id: userId, user_config: { ui_config: {} } }
        expect((await management.send(updateConfig, config, caller)).status).toBe(403)
      }
    }
  })

  it('reject a config with the id of another user', async () => {
    const { user_id } = records
    const userConfig = { user_id: management.superadmin.user_id }
    const { status, response } = await management.call(updateConfig, {
      user_id,
      user_config: userConfig,
    })
    expect([status, response]).toMatchObject([400, { fields: [{ field: 'user_config.user_id' }] }])
  })

  it('cannot see other users', async () => {
    const viewer = await management.signIn('viewer', { sites: [records.site_id] })
    expect(
      (await management.call(list, undefined, viewer)).response.map(({ user_id }) => user_id),
    ).toEqual([viewer.user_id])
    expect((await management.send(get, { user_id: records.user_id }, viewer)).status).toBe(404)
  })
})

describe('administrators', () => {
  it('register and verify a user, and assign a role and records', async () => {
    const { user_id: userId, organization_id: organizationId } = await registered(admin)
    expect(organizationId).toBe(records.organization_id)
    await management.call(setStatus, { user_id: userId, is_active: true, is_verified: true }, admin)
    await management.call(update, { ...(await unchanged(userId)), role_id: roleIds.viewer! }, admin)
    const assigned = {
      customer_ids: [records.customer_id],
      site_ids: [records.site_id],
      channel_ids: [records.channel_id],
      usecase_ids: [records.usecase_id],
    }
    const userConfig = { ...assigned, ui_config: { start: 'live' } }
    expect(
      (await management.call(updateConfig, { user_id: userId, user_config: userConfig }, admin))
        .response,
    ).toBeNull()
    const { response } = await management.call(get, { user_id: userId }, admin)
    expect(response).toMatchObject({ ...userConfig, role_key: 'viewer', is_verified: true })
    await management.call(updateConfig, { user_id: userId, user_config: { site_ids: [] } }, admin)
    expect((await management.call(getConfig, { user_id: userId }, admin)).response).toMatchObject({
      ...assigned,
      site_ids: [],
    })
  })

  it('cannot assign a role above their own', async () => {
    const changes = { ...(await unchanged(records.user_id)), role_id: roleIds.superadmin! }
    const { status: code, message } = await management.send(update, changes, admin)
    expect([code, message]).toEqual([
      403,
      'role_id: assigning the role superadmin requires the role superadmin, and your role is admin: ask an administrator',
    ])
  })

  it('cannot assign records that they do not see', async () => {
    const others = await insertRecords(management.database)
    const changes = { user_id: records.user_id, user_config: { site_ids: [others.site_id] } }
    const { status: code, message } = await management.send(updateConfig, changes, admin)
    expect([code, message]).toEqual([404, 'user_config.site_ids.0: no such site'])
  })

  it('cannot change a superadmin, not even of their own organization', async () => {
    const { user_id: userId } = await registered(admin)
    await management.call(update, { ...(await unchanged(userId)), role_id: roleIds.superadmin! })
    const above = await unchanged(userId)
    expect((await management.send(update, above, admin)).status).toBe(403)
    expect(
      (
        await management.send(
          setStatus,
          { user_id: userId, is_active: false, is_verified: true },
          admin,
        )
      ).status,
    ).toBe(403)
    expect((await management.send(remove, { user_id: userId }, admin)).status).toBe(403)
  })

  it('cannot change a user with assignments that they do not administer', async () => {
    const others = await insertRecords(management.database)
    const shared = await management.signIn('viewer', { sites: [records.site_id, others.site_id] })
    const { user_id: userId } = shared
    expect((await management.call(get, { user_id: userId }, admin)).response.site_ids).toEqual([
      records.site_id,
    ])
    const takeOver = { change_password: true, password, confirm_password: password }
    expect(
      (await management.send(update, { ...(await unchanged(userId)), ...takeOver }, admin)).status,
    ).toBe(403)
    expect((await management.send(remove, { user_id: userId }, admin)).status).toBe(403)
    const changes = { user_id: userId, user_config: { channel_ids: [records.channel_id] } }
    expect((await management.send(updateConfig, changes, admin)).status).toBe(403)
  })

  it('cannot appoint an administrator of another organization', async () => {
    const others = await insertRecords(management.database)
    const changes = {
      ...(await unchanged(records.user_id)),
      organization_id: others.organization_id,
    }
    expect((await management.send(update, changes, admin)).status).toBe(404)
    expect(
      (await management.send(update, { ...changes, organization_id: null }, admin)).status,
    ).toBe(403)
  })

  it('end the sessions of a user and delete the API tokens when they set a password', async () => {
    const viewer = await management.signIn('viewer', { sites: [records.site_id] })
    const { token } = (
      await management.call(
        managementRoutes.token.create,
        { name: 'script', scopes: ['read'] },
        viewer,
      )
    ).response
    const fresh = { change_password: true, password, confirm_password: password }
    await management.call(update, { ...(await unchanged(viewer.user_id)), ...fresh }, admin)
    expect((await management.send(getCurrent, undefined, viewer)).status).toBe(401)
    expect((await management.send(getCurrent, undefined, { ...viewer, token })).status).toBe(401)
  })

  it('delete a user, whose token becomes invalid', async () => {
    const viewer = await management.signIn('viewer', { sites: [records.site_id] })
    expect((await management.call(remove, { user_id: viewer.user_id }, admin)).response).toBeNull()
    expect((await management.send(getCurrent, undefined, viewer)).status).toBe(401)
    expect((await management.send(get, { user_id: viewer.user_id })).status).toBe(404)
  })

  it('delete a user once: a concurrent deletion is rejected with 404', async () => {
    for (let n = 0; n < 5; n += 1) {
      const { user_id } = await management.signIn('viewer')
      const responses = await Promise.all(
        Array.from({ length: 6 }, () => management.call(remove, { user_id })),
      )
      expect(responses.map(({ status }) => status).toSorted()).toEqual([
        200, 404, 404, 404, 404, 404,
      ])
    }
  })

  it('change only the fields that an update contains', async () => {
    const changes = {
      ...(await unchanged(records.user_id)),
      is_verified: false,
      last_logged_in_at: null,
    }
    await management.call(update, changes, admin)
    expect((await management.call(get, { user_id: records.user_id })).response.is_verified).toBe(
      true,
    )
    const { status: code, message } = await management.send(
      update,
      { ...changes, password_hash: 'mine' },
      admin,
    )
    expect([code, message]).toEqual([400, 'password_hash: unknown field'])
  })
})

describe('the last superadmin', () => {
  it.each([
    [
      'demoted',
      update,
      async (userId: string) => ({ ...(await unchanged(userId)), role_id: roleIds.admin }),
    ],
    [
      'deactivated',
      setStatus,
      async (userId: string) => ({ user_id: userId, is_active: false, is_verified: true }),
    ],
    ['deleted', remove, async (userId: string) => ({ user_id: userId })],
  ] as const)('is not %s', async (_, route, input) => {
    const { status: code, message } = await management.send(
      route,
      await input(management.superadmin.user_id),
    )
    expect([code, message]).toEqual([
      409,
      'this is the last active superadmin: appoint another one first',
    ])
  })

  it('remains when two superadmins demote each other concurrently', async () => {
    const other = await management.signIn('superadmin')
    const demoted = async ({ user_id: userId }: SignedInUser) => ({
      ...(await unchanged(userId)),
      role_id: roleIds.admin!,
    })
    const changes = [await demoted(other), await demoted(management.superadmin)] as const
    const responses = await Promise.all([
      management.send(update, changes[0], management.superadmin),
      management.send(update, changes[1], other),
    ])
    expect(responses.map(({ status: code }) => code).toSorted()).toEqual([200, expect.any(Number)])
    const left = [management.superadmin, other].map(
      async one => (await management.send(list, undefined, one)).response,
    )
    expect((await Promise.all(left)).flat()).toContainEqual(
      expect.objectContaining({ role_key: 'superadmin' }),
    )
  })
})
