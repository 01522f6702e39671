import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { getCreatedId } from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'
import { engineStatistics, engine as table } from '../../../db/schema/index.ts'

const {
  create,
  update,
  delete: remove,
  list,
  stats,
  status,
  drift,
  repair,
} = managementRoutes.engine

describe('engines', () => {
  const management = sharedManagement()
  const own = sharedHierarchy(management, 'own')
  const other = sharedHierarchy(management, 'other')

  const input = (more: object = {}) => ({
    engine_name: 'Front',
    engine_address: 'engine.test',
    engine_port: 8100,
    engine_is_secure: true,
    engine_key: 'top-secret',
    engine_timeout: '5s',
    engine_retry: { disable_backoff: false, times: 3, wait_base: 500 },
    site_ids: [own.site_id],
    ...more,
  })
  const add = async (more?: object) => getCreatedId(await management.call(create, input(more)))

  it('are registered with 201 and null, and Location points to them', async () => {
    const reply = await management.call(create, input())
    expect([reply.status, reply.response]).toEqual([201, null])
    const engineId = getCreatedId(reply)
    const { engine_key: _, site_ids: __, ...shown } = input()
    const { response } = await management.call(status, { engine_id: engineId })
    expect(response).toMatchObject({
      ...shown,
      engine_id: engineId,
      engine_status: 0,
      engine_is_active: false,
      engine_is_statistics: false,
      engine_routes: {},
      engine_stats: [],
      site_ids: [own.site_id],
      site_id: own.site_id,
      site_key: 'own',
    })
    expect(Date.parse(response.engine_created_at)).toBeGreaterThan(0)
  })

  it('never return their key, which is sealed, and keep it when an update omits it', async () => {
    const engineId = await add()
    const keyOf = () =>
      management.database.system('test', async tx => {
        const [row] = await tx.select().from(table).where(eq(table.engine_id, engineId))
        return row!.engine_key
      })
    const before = await keyOf()
    expect(before).toMatch(/^sealed/)
    const read = (await management.call(status, { engine_id: engineId })).response
    expect(JSON.stringify(read)).not.toMatch(/top-secret|engine_key/)
    expect(await management.send(update, { ...read, engine_name: 'Back' })).toMatchObject({
      status: 200,
      response: null,
    })
    expect((await management.call(status, { engine_id: engineId })).response.engine_name).toBe(
      'Back',
    )
    expect(await keyOf()).toBe(before)
    await management.send(update, { ...read, engine_key: 'another' })
    expect(await keyOf()).not.toBe(before)
  })

  it.each([
    ['host', { engine_address: 'attacker.test' }],
    ['port', { engine_port: 8101 }],
    ['scheme', { engine_is_secure: false }],
  ])('do not send their stored key to another %s', async (_, changed) => {
    const engineId = await add()
    const { engine_key, ...withoutKey } = { ...input(changed), engine_id: engineId }
    const { status: answered, message } = await management.send(update, withoutKey)
    expect(answered).toBe(400)
    expect(message).toContain(
      'engine_key: the stored key belongs to another address: send the key too',
    )
    expect((await management.call(status, { engine_id: engineId })).response.engine_address).toBe(
      'engine.test',
    )
    expect((await management.send(update, { ...withoutKey, engine_key })).status).toBe(200)
    expect((await management.call(status, { engine_id: engineId })).response).toMatchObject(changed)
  })

  it.each([
    ['engine_address', 'http://engine.test', 'host name'],
    ['engine_address', '', 'must not be empty'],
    ['engine_key', 'two\nlines', 'single token'],
    ['engine_port', 0, ''],
    ['engine_port', '8100', ''],
    ['engine_timeout', '5', 'a duration'],
    ['engine_timeout', '1h', 'a duration'],
    ['engine_retry', { disable_backoff: true, times: -1, wait_base: 1 }, ''],
    ['engine_is_secure', 'yes', ''],
    ['site_ids', ['none'], 'no such site'],
    ['engine_colour', 'blue', 'unknown field'],
  ])('are rejected with %s %j, naming the field', async (field, value, reason) => {
    const { status: answered, message } = await management.send(create, input({ [field]: value }))
    expect([400, 404]).toContain(answered)
    expect(message).toContain(field)
    expect(message).toContain(reason)
  })

  it.each(['10.0.0.1', '::1', 'box', 'a-b.example.org'])(
    'accept the address %s',
    async engineAddress => {
      expect((await management.call(create, input({ engine_address: engineAddress }))).status).toBe(
        201,
      )
    },
  )

  it('are listed by the sites that they serve, separated by commas', async () => {
    const engineId = await add()
    const idsOf = async (siteIds: string) =>
      (await management.send(list, { site_ids: siteIds })).response as { engine_id: string }[]
    const both = (await idsOf(`${own.site_id},${other.site_id}`)).map(each => each.engine_id)
    expect(both).toEqual(expect.arrayContaining([engineId, own.engine_id, other.engine_id]))
    expect((await idsOf(other.site_id)).map(each => each.engine_id)).toEqual([other.engine_id])
    expect(await management.send(list, {})).toMatchObject({
      status: 400,
      message: expect.stringContaining('site_ids: is required'),
    })
    const nowhere = '0198a000-0000-7000-8000-000000000000'
    expect(await management.send(list, { site_ids: nowhere })).toMatchObject({ status: 404 })
  })

  it('are hidden from users of another organization', async () => {
    const engineId = await add()
    const admin = await management.signIn('admin', { organization: other.organization_id })
    for (const route of [stats, status, drift]) {
      expect(await management.call(route, { engine_id: engineId }, admin)).toMatchObject({
        status: 404,
      })
    }
    expect(await management.call(remove, { engine_id: engineId }, admin)).toMatchObject({
      status: 404,
    })
    const seen = (await management.send(list, { site_ids: '' }, admin)).response as {
      engine_id: string
    }[]
    expect(seen.map(each => each.engine_id)).toEqual([other.engine_id])
  })

  it('belong to the organization of their sites, or else to the whole installation', async () => {
    const admin = await management.signIn('admin', { organization: own.organization_id })
    const statusFor = async (engineId: string) =>
      (await management.call(status, { engine_id: engineId }, admin)).status
    expect(await statusFor(await add())).toBe(200)
    expect(await statusFor(await add({ site_ids: [] }))).toBe(404)
    const ofBoth = input({ site_ids: [own.site_id, other.site_id] })
    expect((await management.call(create, ofBoth)).status).toBe(400)
  })

  it.each(['admin', 'manager', 'viewer'] as const)('are not registered by a %s', async role => {
    const assigned = { organization: own.organization_id, sites: [own.site_id] }
    const user = await management.signIn(
      role,
      role === 'admin' ? { organization: own.organization_id } : assigned,
    )
    expect(
      await management.call(create, input({ engine_address: '127.0.0.1' }), user),
    ).toMatchObject({
      status: 403,
      message: expect.stringContaining('requires the role superadmin'),
    })
  })

  it.each([
    { engine_address: '169.254.169.254' },
    { engine_port: 5432 },
    { engine_is_secure: false },
    { engine_key: 'another' },
  ])('are not pointed elsewhere by an administrator with %j, who may rename them', async change => {
    const engineId = await add()
    const { engine_key: _, ...connection } = input()
    const admin = await management.signIn('admin', { organization: own.organization_id })
    const renamed = { ...connection, engine_id: engineId, engine_name: 'Back' }
    expect((await management.call(update, renamed, admin)).status).toBe(200)
    expect(await management.call(update, { ...renamed, ...change }, admin)).toMatchObject({
      status: 403,
      message: expect.stringContaining('the role superadmin'),
    })
    expect(
      (await management.call(update, { engine_key: 'top-secret', ...renamed, ...change })).status,
    ).toBe(200)
  })

  it('cannot be deleted while they have sources and pipelines', async () => {
    expect(await management.call(remove, { engine_id: own.engine_id })).toMatchObject({
      status: 409,
      message: expect.stringMatching(/device|source|pipeline/),
    })
    const engineId = await add()
    expect(await management.call(remove, { engine_id: engineId })).toMatchObject({
      status: 200,
      response: null,
    })
    expect((await management.call(status, { engine_id: engineId })).status).toBe(404)
  })

  it('have no drift and no statistics and cannot be repaired before they are connected', async () => {
    const engineId = await add()
    expect((await management.call(drift, { engine_id: engineId })).response).toEqual({
      engine_id: engineId,
      checked_at: null,
      drift: [],
    })
    expect((await management.call(stats, { engine_id: engineId })).response).toEqual({
      engine_id: engineId,
      engine_stats: [],
      engine_uptime: 0,
    })
    expect((await management.call(repair, { engine_id: engineId })).status).toBe(503)
  })

  it('return a long history as averages of equal intervals, oldest first', async () => {
    const engineId = await add()
    const start = Date.parse('2026-01-01T00:00:00Z')
    const samples = Array.from({ length: 5000 }, (_, n) => ({
      ...{ engine_id: engineId, time: new Date(start + n * 10_000) },
      ...{ cpu: n % 2 === 0 ? 20 : 40, mem_physical: 1000, mem_virtual: 2000 },
    }))
    await management.database.system('test', async tx => {
      for (let n = 0; n < samples.length; n += 1000) {
        await tx.insert(engineStatistics).values(samples.slice(n, n + 1000))
      }
    })
    const { engine_stats: engineStats } = (await management.call(stats, { engine_id: engineId }))
      .response
    expect(engineStats.length).toBeGreaterThan(900)
    expect(engineStats.length).toBeLessThanOrEqual(1001)
    expect(engineStats[0]).toMatchObject({ time: '2026-01-01T00:00:00.000Z', mem_physical: 1000 })
    const times = engineStats.map(({ time }) => time)
    expect(times).toEqual(times.toSorted())
    const middle = engineStats.slice(1, -1)
    expect(middle.every(({ cpu }) => cpu > 20 && cpu < 40)).toBe(true)
  })
})
