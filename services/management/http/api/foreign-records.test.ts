import { randomUUID } from 'node:crypto'
import { managementRoutes as routes } from '@eyrie/contract/management/index'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  customerInput,
  deviceInput,
  siteInput,
  sourceInput,
} from '../../../../test/fixtures/management/hierarchy.ts'
import type { SignedInUser } from '../../../../test/fixtures/management/management.ts'
import {
  type OperationCase,
  operationCases,
} from '../../../../test/fixtures/management/operation-cases.ts'
import type { ManagementRecords } from '../../../../test/fixtures/management/records.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'

const management = sharedManagement()
const own = sharedRecords(management)
/** Records of an organization in which nothing is assigned to the caller. */
const foreign = sharedRecords(management)
/** Ids of records that do not exist. */
let missing: ManagementRecords

const kinds = ['admin', 'manager', 'viewer'] as const
const callers = {} as Record<(typeof kinds)[number], SignedInUser>

beforeAll(async () => {
  missing = {
    ...(mapValues(foreign, () => randomUUID()) as ManagementRecords),
    ...pickShared(foreign),
  }
  const assigned = { customers: [own.customer_id] }
  callers.admin = await management.signIn('admin', { organization: own.organization_id })
  callers.manager = await management.signIn('manager', assigned)
  callers.viewer = await management.signIn('viewer', assigned)
}, 180_000)

const mapValues = (records: ManagementRecords, change: (value: string) => string) =>
  Object.fromEntries(Object.entries(records).map(([key, value]) => [key, change(value)]))

/** Values that do not belong to any organization. */
const pickShared = ({ role_id, usecase_id, email }: ManagementRecords) => ({
  role_id,
  usecase_id,
  email,
})

async function sendRequest(
  { route, example }: OperationCase,
  records: ManagementRecords,
  as: SignedInUser,
) {
  const { status, message, response } = await management.send(route, example.input?.(records), as)
  return { status, message, response }
}

/** Returns the keys of the records that an example refers to. */
function listReferencedKeys({ example }: OperationCase): (keyof ManagementRecords)[] {
  const keys: string[] = []
  example.input?.(
    new Proxy({} as ManagementRecords, {
      get: (_, key) => {
        keys.push(String(key))
        return ''
      },
    }),
  )
  return keys.filter(
    key => !['role_id', 'usecase_id', 'email'].includes(key),
  ) as (keyof ManagementRecords)[]
}

/** Excludes routes that are open to anyone: their callers have no organization. */
const cases = operationCases.filter(
  testCase => testCase.route.access !== 'anyone' && listReferencedKeys(testCase).length > 0,
)

describe.each(kinds)('another organization, for a %s', kind => {
  it.each(cases)('is hidden from $name', async testCase => {
    const [foreignResult, missingResult] = [
      await sendRequest(testCase, foreign, callers[kind]),
      await sendRequest(testCase, missing, callers[kind]),
    ]
    expect(foreignResult).toEqual(missingResult)
    expect(foreignResult.status).toBeOneOf([403, 404])
  })
})

describe('a record of another organization, for an admin', () => {
  it.each(cases)('is hidden among own records from $name', async testCase => {
    for (const key of new Set(listReferencedKeys(testCase))) {
      const foreignResult = await sendRequest(
        testCase,
        { ...own, [key]: foreign[key] },
        callers.admin,
      )
      const missingResult = await sendRequest(
        testCase,
        { ...own, [key]: missing[key] },
        callers.admin,
      )
      expect({ key, ...foreignResult }).toEqual({ key, ...missingResult })
      expect(foreignResult.status).toBeOneOf([403, 404])
    }
  })
})

describe('another organization', () => {
  it.each(['customer', 'site'] as const)('does not accept a %s from an admin', async kind => {
    const { organization_id: organizationId } = foreign
    const input =
      kind === 'customer'
        ? { ...customerInput(organizationId, 'moved'), customer_id: own.customer_id }
        : { ...siteInput(organizationId, own.customer_id, 'moved'), site_id: own.site_id }
    const { status, response } = await management.send(routes[kind].update, input, callers.admin)
    expect(status).toBe(404)
    expect(response).toMatchObject({ fields: [{ field: 'organization_id' }] })
  })

  it('protects its engines, sources and users from an admin', async () => {
    const { engine_id: engineId, device_id: deviceId, user_id } = foreign
    const attempts = [
      [routes.device.create, deviceInput(own.site_id, engineId, 'taken')],
      [routes.source.create, sourceInput(deviceId, own.engine_id, 'taken')],
      [routes.site.assign, { user_id, site_id: [own.site_id] }],
      [routes.customer.assign, { user_id, customer_id: [own.customer_id] }],
    ] as const
    for (const [route, input] of attempts) {
      expect((await management.send(route, input, callers.admin)).status).toBe(404)
    }
  })
})
