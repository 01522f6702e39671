import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { allManagementRoutes, type ManagementRoute } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SignedInUser } from '../../../test/fixtures/management/management.ts'
import {
  type OperationCase,
  type OperationExample,
  operationCases,
} from '../../../test/fixtures/management/operation-cases.ts'
import { insertRecords, type ManagementRecords } from '../../../test/fixtures/management/records.ts'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { apiToken, notification } from '../db/schema/index.ts'
import { createPictureStore } from '../events/pictures/picture-store.ts'
import { generateApiToken } from '../users/api-tokens.ts'
import { hashSecret } from '../users/opaque-token.ts'
import { includesRole } from './access.ts'
import { ROLES, type Role } from './principal.ts'

const minimumRoles = {
  anyone: null,
  'signed-in': null,
  view: 'viewer',
  manage: 'manager',
  administer: 'admin',
  own: 'superadmin',
} as const

/** Statuses of an admitted call: it succeeds, or the state of the records prevents it. */
const admittedStatuses = [200, 201, 202, 409, 503]

interface Scene {
  records: ManagementRecords
  /** Users with these records assigned. */
  users: Record<Role, SignedInUser>
}

const management = sharedManagement()
/** Users of another organization. */
let strangers: Record<Role, SignedInUser>
let reader: string
/** The planted records. Undefined once an operation has changed them. */
let unchanged: Scene | undefined

beforeAll(async () => {
  strangers = (await plant()).users
  reader = await createApiToken(management.superadmin)
}, 180_000)

async function plant(): Promise<Scene> {
  const records = await insertRecords(management.database)
  await insertPicture(records)
  const { organization_id, customer_id } = records
  const users = {
    superadmin: management.superadmin,
    admin: await management.signIn('admin', { organization: organization_id }),
    manager: await management.signIn('manager', { customers: [customer_id] }),
    viewer: await management.signIn('viewer', { customers: [customer_id] }),
  }
  return { records, users }
}

/** Stores a picture for the notification. */
async function insertPicture({ notification_uuid }: ManagementRecords): Promise<void> {
  const jpeg = randomBytes(40)
  const sha256 = createHash('sha256').update(jpeg).digest('hex')
  await createPictureStore(resolve(management.data, 'management/pictures')).write(sha256, jpeg)
  await management.database.system('test', tx =>
    tx
      .update(notification)
      .set({ picture: sha256 })
      .where(eq(notification.notification_uuid, notification_uuid)),
  )
}

async function createApiToken({ user_id }: SignedInUser): Promise<string> {
  const token = generateApiToken()
  const row = { user_id, name: 'reader', scopes: ['read'], secret_hash: hashSecret(token) }
  await management.database.system('test', tx => tx.insert(apiToken).values(row))
  return token
}

async function getScene(): Promise<Scene> {
  unchanged ??= await plant()
  return unchanged
}

type Outcome = number | 'admitted'

const toOutcome = (status: number): Outcome => (admittedStatuses.includes(status) ? 'admitted' : status)

/** A caller and the expected outcome. */
interface Caller {
  name: string
  token(ground: Scene): string | undefined
  expected: Outcome
}

function listCallers({ route, example }: OperationCase, records: ManagementRecords): Caller[] {
  const minimum = minimumRoles[route.access]
  const may = (role: Role) => !minimum || includesRole(role, minimum)
  const outsideStatus = refersToRecords(example, records) ? 404 : 200
  return [
    ...ROLES.map(role => ({
      name: `${role}, inside`,
      token: ({ users }: Scene) => users[role].token,
      expected: toOutcome(may(role) ? (example.inside?.[role] ?? 200) : 403),
    })),
    ...ROLES.slice(1).map(role => ({
      name: `${role}, outside`,
      token: () => strangers[role].token,
      expected: toOutcome(may(role) ? (example.outside?.[role] ?? outsideStatus) : 403),
    })),
    {
      name: 'unauthenticated client',
      token: () => undefined,
      expected: toOutcome(route.access === 'anyone' ? (example.inside?.viewer ?? 200) : 401),
    },
    {
      name: 'read-only API token of the superadmin',
      token: () => reader,
      expected: toOutcome(
        route.requiresSession || changes(route) ? 403 : (example.inside?.superadmin ?? 200),
      ),
    },
  ]
}

async function ask({ route, example }: OperationCase, { token }: Caller): Promise<Outcome> {
  const it = await getScene()
  const status = await send(route, example, it.records, token(it))
  if (status < 300 && changes(route)) unchanged = undefined
  return toOutcome(status)
}

async function send(
  route: ManagementRoute,
  example: OperationExample,
  records: ManagementRecords,
  token?: string,
) {
  const as = token ? { user_id: '', email: '', token } : null
  const headers = token ? { authorization: `Bearer ${token}` } : undefined
  const input = example.input?.(records)
  if (route.responseType) {
    const query = new URLSearchParams(input as Record<string, string>)
    return (await management.request(`${route.path}?${query}`, { headers })).status
  }
  if (!example.file) return (await management.send(route, input, as)).status
  const body = new FormData()
  body.set(route.fileField!, await example.file())
  return (await management.request(route.path, { method: 'POST', body, headers })).status
}

const changes = ({ method, readOnly }: ManagementRoute) => method === 'post' && !readOnly

function refersToRecords(example: OperationExample, records: ManagementRecords): boolean {
  const input = JSON.stringify(example.input?.(records) ?? '')
  const { role_id: _, usecase_id: __, ...own } = records
  return Object.values(own).some(value => input.includes(value))
}

describe('access of every role to every operation', () => {
  it('is tested for all routes', () => {
    expect(operationCases.map(({ route }) => route).toSorted(byPath)).toEqual(
      allManagementRoutes.toSorted(byPath),
    )
    expect(operationCases.every(({ example }) => example !== undefined)).toBe(true)
  })

  it.each(operationCases)('is enforced for $name', async testCase => {
    const callers = listCallers(testCase, (await getScene()).records)
    const isRefused = ({ expected }: Caller) => typeof expected === 'number'
    const refused = callers.filter(isRefused)
    const passing = callers.filter(caller => !isRefused(caller))
    const answers = new Map<string, Outcome>()
    const call = async (caller: Caller) => answers.set(caller.name, await ask(testCase, caller))
    // Rejected calls change nothing and can run concurrently.
    await Promise.all(refused.map(call))
    for (const caller of passing) await call(caller)
    expect(Object.fromEntries(answers)).toEqual(
      Object.fromEntries(callers.map(({ name, expected }) => [name, expected])),
    )
  })
})

const byPath = (a: ManagementRoute, b: ManagementRoute) =>
  `${a.path} ${a.method}`.localeCompare(`${b.path} ${b.method}`)
