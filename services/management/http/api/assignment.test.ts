import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  customerInput,
  deviceInput,
  getCreatedId,
  sourceInput,
} from '../../../../test/fixtures/management/hierarchy.ts'
import { operationCases } from '../../../../test/fixtures/management/operation-cases.ts'
import {
  sharedHierarchy,
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'
import { customer, user } from '../../db/schema/index.ts'

const routes = managementRoutes

/** Columns that clients cannot write, and fields of other operations. */
const columns = {
  is_default: true,
  created_at: '2000-01-01T00:00:00Z',
  password_hash: 'none',
  secret_hash: 'none',
  is_superadmin: true,
  pipeline_sid: 1,
  source_sid: 1,
}

const management = sharedManagement()
const records = sharedRecords(management)
const hierarchy = sharedHierarchy(management, 'own')

describe('columns that are not fields', () => {
  const writes = operationCases.filter(({ route }) => route.body)

  it.each(writes)('are rejected by $name, naming each', async ({ route, example }) => {
    const input = { ...(example.input!(records) as object), ...columns }
    const { status, response } = await management.send(route, input)
    expect(status).toBe(400)
    const { fields } = response as { fields: { field: string }[] }
    expect(fields.map(({ field }) => field).toSorted()).toEqual(Object.keys(columns).toSorted())
  })
})

describe('read-only fields in a body', () => {
  it('do not change the id of a record', async () => {
    const input = {
      ...customerInput(hierarchy.organization_id, 'second'),
      customer_id: hierarchy.customer_id,
    }
    const { headers, status } = await management.send(routes.customer.create, input)
    expect(status).toBe(201)
    expect(headers.get('location')).not.toContain(hierarchy.customer_id)
  })

  it('do not make a device or channel online or verified', async () => {
    const device = {
      ...deviceInput(hierarchy.site_id, hierarchy.engine_id, 'device'),
      device_state: true,
      device_status: 'online',
      device_value: '1',
      transaction_id: 'x',
    }
    const { response } = await management.send(routes.device.create, device)
    const { device_id } = response as { device_id: string }
    expect((await management.call(routes.device.get, { device_id })).response).toMatchObject({
      device_state: false,
      device_status: 'unknown',
      device_value: '',
      transaction_id: expect.not.stringMatching(/^x$/),
    })
    const { source_id, pipeline_id, channel_id } = hierarchy
    const channel = {
      channel_id,
      channel_sid: '7',
      is_active: true,
      is_verified: true,
      site_id: records.site_id,
    }
    expect((await management.send(routes.channel.update, channel)).status).toBe(200)
    expect((await management.call(routes.channel.get, { channel_id })).response).toMatchObject({
      source_id,
      pipeline_id,
      site_id: hierarchy.site_id,
      channel_sid: '',
      is_active: false,
      is_verified: false,
    })
  })

  it('do not grant a user a role, rights or verification', async () => {
    const { response } = await management.send(
      routes.user.register,
      {
        email: 'ambitious@eyrie.test',
        first_name: 'Ada',
        last_name: 'Byron',
        password: 'correct horse',
        role_key: 'superadmin',
      },
      null,
    )
    const { user_id: userId } = response as { user_id: string }
    expect(response).toMatchObject({ role_id: null, role_key: '', is_verified: false })
    const update = {
      user_id: userId,
      email: 'ambitious@eyrie.test',
      role_id: null,
      change_password: false,
      password: 'another horse',
      confirm_password: 'another horse',
      ...{
        role_key: 'superadmin',
        is_active: true,
        is_verified: true,
        site_ids: [hierarchy.site_id],
      },
    }
    const hash = () =>
      management.database.system('test', async tx => {
        const [row] = await tx.select().from(user).where(eq(user.user_id, userId))
        return row!.password_hash
      })
    const before = await hash()
    expect((await management.send(routes.user.update, update)).response).toMatchObject({
      ...{ role_id: null, role_key: '', is_verified: false, site_ids: [] },
    })
    expect(await hash()).toBe(before)
  })

  it.each(['is_active', 'is_verified', 'role_key'])(
    'are rejected at registration: %s',
    async field => {
      const person = {
        email: 'x@eyrie.test',
        first_name: '',
        last_name: '',
        password: 'correct horse',
        role_key: '',
      }
      const { status } = await management.send(
        routes.user.register,
        { ...person, user_id: management.superadmin.user_id, [field]: 1 },
        null,
      )
      expect(status).toBe(400)
    },
  )
})

it('responses contain only columns of the contract', async () => {
  const { response } = await management.call(routes.customer.list, {
    organization_id: hierarchy.organization_id,
    is_default: 'true',
  })
  const [row] = await management.database.system('test', tx => tx.select().from(customer))
  expect(row).toHaveProperty('is_default')
  for (const each of response) expect(each).not.toHaveProperty('is_default')
})

it('rejects an id chosen by the caller', async () => {
  const chosen = '01900000-0000-7000-8000-000000000001'
  const input = {
    ...sourceInput(hierarchy.device_id, hierarchy.engine_id, 'chosen'),
    source_id: chosen,
  }
  const reply = await management.send(routes.source.create, input)
  expect(getCreatedId(reply)).not.toBe(chosen)
})
