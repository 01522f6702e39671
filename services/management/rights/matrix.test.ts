import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
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
  /** Users of another organization. */
  strangers: Record<Role, SignedInUser>
  /** A read-only API token of the superadmin. */
  reader: string
}

const management = sharedManagement()
/** The scene of the next operation, which earlier operations may have changed. */
let scene: Scene

beforeAll(async () => {
  scene = await createScene()
}, 180_000)

async function createScene(): Promise<Scene> {
  const records = await insertRecords(management.database)
  await insertPicture(records)
  const stranger = await insertRecords(management.database)
  const superadmin = await management.signIn('superadmin')
  return {
    records,
    users: await signInAll(records, superadmin),
    strangers: await signInAll(stranger, superadmin),
    reader: await createApiToken(superadmin),
  }
}

async function signInAll(
  { organization_id: organizationId, customer_id: customerId }: ManagementRecords,
  superadmin: SignedInUser,
): Promise<Record<Role, SignedInUser>> {
  return {
    superadmin,
    admin: await management.signIn('admin', { organization: organizationId }),
    manager: await management.signIn('manager', { customers: [customerId] }),
    viewer: await management.signIn('viewer', { customers: [customerId] }),
  }
}

/** Stores a picture for the notification. */
async function insertPicture({
  notification_uuid: notificationUuid,
}: ManagementRecords): Promise<void> {
  const jpeg = randomBytes(40)
  const sha256 = createHash('sha256').update(jpeg).digest('hex')
  await createPictureStore(resolve(management.data, 'management/pictures')).write(sha256, jpeg)
  await management.database.system('test', tx =>
    tx
      .update(notification)
      .set({ picture: sha256 })
      .where(eq(notification.notification_uuid, notificationUuid)),
  )
}

async function createApiToken({ user_id }: SignedInUser): Promise<string> {
  const token = generateApiToken()
  const row = { user_id, name: 'reader', scopes: ['read'], secret_hash: hashSecret(token) }
  await management.database.system('test', tx => tx.insert(apiToken).values(row))
  return token
}

type Outcome = number | 'admitted'

const toOutcome = (status: number): Outcome =>
  admittedStatuses.includes(status) ? 'admitted' : status

/** A caller and the expected outcome. */
interface Caller {
  name: string
  token(scene: Scene): string | undefined
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
      token: ({ strangers }: Scene) => strangers[role].token,
      expected: toOutcome(may(role) ? (example.outside?.[role] ?? outsideStatus) : 403),
    })),
    {
      name: 'unauthenticated client',
      token: () => undefined,
      expected: toOutcome(route.access === 'anyone' ? (example.inside?.viewer ?? 200) : 401),
    },
    {
      name: 'read-only API token of the superadmin',
      token: ({ reader }: Scene) => reader,
      expected: toOutcome(
        route.requiresSession || changes(route) ? 403 : (example.inside?.superadmin ?? 200),
      ),
    },
  ]
}

/** Calls an operation as each of the callers, and returns the outcomes by their names. */
async function askAll(
  { route, example }: OperationCase,
  callers: Caller[],
  getScene: () => Promise<Scene>,
): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {}
  const ask = async ({ name, token }: Caller, scene: Scene) => {
    outcomes[name] = toOutcome(await send(route, example, scene.records, token(scene)))
  }
  const [rejected, admitted] = partition(callers, ({ expected }) => typeof expected === 'number')
  // Rejected calls change nothing and can run concurrently.
  const shared = await getScene()
  await Promise.all(rejected.map(caller => ask(caller, shared)))
  for (const caller of admitted) await ask(caller, await getScene())
  return outcomes
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
    const callers = listCallers(testCase, scene.records)
    const expected = Object.fromEntries(callers.map(({ name, expected }) => [name, expected]))
    if (isDeepStrictEqual(await askAll(testCase, callers, async () => scene), expected)) return
    // An earlier call may have deleted a record or ended a session: new records for each call show
    // what the rights permit.
    const createNewScene = async () => {
      scene = await createScene()
      return scene
    }
    expect(await askAll(testCase, callers, createNewScene)).toEqual(expected)
  })
})

function partition<T>(values: T[], isFirst: (value: T) => boolean): [T[], T[]] {
  return [values.filter(isFirst), values.filter(value => !isFirst(value))]
}

const byPath = (a: ManagementRoute, b: ManagementRoute) =>
  `${a.path} ${a.method}`.localeCompare(`${b.path} ${b.method}`)
