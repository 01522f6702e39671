import { managementRoutes } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  createHierarchy,
  customerInput,
  deviceInput,
  getCreatedId,
  organizationInput,
  siteInput,
  sourceInput,
} from '../../../../test/fixtures/management/hierarchy.ts'
import { operationCases } from '../../../../test/fixtures/management/operation-cases.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'

const routes = managementRoutes
const attacks = [
  `'; drop table organization cascade; --`,
  `' or '1'='1`,
  `" or ""="`,
  String.raw`\'; select pg_sleep(60); --`,
  `$1 $$ ; commit; delete from "user"; --`,
  '%_\\%',
  `{"$ne": null}`,
  `') union select password_hash from "user" --`,
]
/** Attacks that would widen a result or cause an error. */
const inQueries = attacks.slice(0, 2)

const management = sharedManagement()
const records = sharedRecords(management)

/** Puts the attack into every text that is not an id. */
function injectAttack<Value>(value: Value, attack: string, ids: readonly string[] = []): Value {
  if (typeof value === 'string') return (ids.includes(value) ? value : attack) as Value
  if (Array.isArray(value)) return value.map(item => injectAttack(item, attack, ids)) as Value
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([key, part]) => [key, injectAttack(part, attack, ids)])
  return Object.fromEntries(entries) as Value
}

const counts = () =>
  management.database.system('test', async tx => {
    const [row] = await tx.execute<{ organizations: number; users: number }>(
      sql`select (select count(*)::int from organization) as organizations, (select count(*)::int from "user") as users`,
    )
    return row
  })

describe('SQL in a text', () => {
  it.each(attacks)('is stored unchanged: %s', async attack => {
    const organization = injectAttack(organizationInput(''), attack)
    const organizationId = getCreatedId(
      await management.call(routes.organization.create, organization),
    )
    expect(
      (await management.call(routes.organization.get, { organization_id: organizationId }))
        .response,
    ).toMatchObject(organization)

    const customer = injectAttack(customerInput(organizationId, ''), attack, [organizationId])
    const customerId = getCreatedId(await management.call(routes.customer.create, customer))
    expect(
      (await management.call(routes.customer.get, { customer_id: customerId })).response,
    ).toMatchObject(customer)

    const site = injectAttack(siteInput(organizationId, customerId, ''), attack, [
      organizationId,
      customerId,
    ])
    const siteId = getCreatedId(await management.call(routes.site.create, site))
    expect((await management.call(routes.site.view, { site_id: siteId })).response).toMatchObject(
      site,
    )

    const made = await createHierarchy(management, `beside ${attack}`)
    const place = [made.site_id, made.engine_id]
    const { device_streams: _, ...device } = injectAttack(
      { ...deviceInput(made.site_id, made.engine_id, ''), device_tags: { [attack]: '' } },
      attack,
      place,
    )
    const deviceId = getCreatedId(await management.call(routes.device.create, device))
    expect(
      (await management.call(routes.device.get, { device_id: deviceId })).response,
    ).toMatchObject(device)

    const source = {
      ...injectAttack(sourceInput(made.device_id, made.engine_id, ''), attack, [
        made.device_id,
        made.engine_id,
      ]),
      source_address: attack,
      static_content: [{ [attack]: attack }],
    }
    const sourceId = getCreatedId(await management.call(routes.source.create, source))
    expect(
      (await management.call(routes.source.get, { source_id: sourceId })).response,
    ).toMatchObject(source)
  })
})

describe('SQL in a query', () => {
  // The rows of an exported file are not JSON: the test of reports attacks it.
  const reads = operationCases.filter(
    ({ route }) => route.method === 'get' && route.query && route !== routes.report.export,
  )

  it.each(reads)(
    'does not widen the result of $name and causes no error',
    async ({ route, example }) => {
      const before = await counts()
      const given = example.input!(records) as Record<string, unknown>
      for (const field of Object.keys(route.query!.shape)) {
        for (const attack of inQueries) {
          const { status, response } = await management.send(route, { ...given, [field]: attack })
          expect({ field, attack, status }).toEqual({
            field,
            attack,
            status: expect.toBeOneOf([200, 400, 404]),
          })
          if (status === 200) expect(response).toEqual([])
        }
      }
      expect(await counts()).toEqual(before)
    },
  )

  it('does not widen the result of a list', async () => {
    const audited = await management.call(routes.audit.list, { record: 'organization' })
    expect(audited.response.length).toBeGreaterThan(0)
    for (const attack of attacks) {
      expect((await management.call(routes.audit.list, { record_id: attack })).response).toEqual([])
    }
  })
})
