import {
  allManagementRoutes,
  envelope,
  fieldErrors,
  type ManagementRoute,
} from '@eyrie/contract/management/index'
import fc from 'fast-check'
import { z } from 'zod'
import { createHierarchy } from '../fixtures/management/hierarchy.ts'
import {
  type SignedInUser,
  startTestManagement,
  type TestManagement,
} from '../fixtures/management/management.ts'
import type { DatabaseServer } from '../fixtures/setup/database-server.ts'
import { createQueryArbitrary } from './arbitrary-request.ts'
import type { FuzzOptions } from './engine-requests.ts'
import { createArbitrary, toPlaceholder } from './schema-arbitrary.ts'

/**
 * New users and records are created after this many requests, so that most requests
 * find existing records.
 */
const RESET_INTERVAL = 200

const callers = ['superadmin', 'admin', 'manager', 'viewer', 'unauthenticated'] as const
type Caller = (typeof callers)[number]

interface Request {
  operation: string
  caller: Caller
  query: string
  body: string
}

const formatOperation = ({ method, path }: ManagementRoute) => `${method} ${path}`
const routes = new Map(allManagementRoutes.map(route => [formatOperation(route), route]))

/** Users and existing records of one round of requests. */
interface Round {
  users: Record<Caller, SignedInUser | null>
  /** Values of the placeholders in generated requests. */
  ids: [placeholder: string, id: string][]
}

export interface ManagementFuzzOptions extends FuzzOptions {
  /** Database server to use outside of a test run. */
  server?: DatabaseServer
}

/**
 * Sends requests to every operation of the management API as every role and checks each
 * response against the contract. Throws an Error with the shortest request that violates it,
 * and the seed to reproduce it.
 */
export async function fuzzManagement(options: ManagementFuzzOptions): Promise<void> {
  const { requests, seed, onProgress, server } = options
  const management = await startTestManagement({ server })
  let sent = 0
  let round: Round
  try {
    await fc.assert(
      fc.asyncProperty(fc.oneof(...allManagementRoutes.map(createRequest)), async request => {
        if (sent % RESET_INTERVAL === 0) {
          round = await startRound(management, `round-${sent}`)
          onProgress?.(sent)
        }
        sent += 1
        const route = routes.get(request.operation)!
        const violation = await findViolation(route, await send(management, route, request, round))
        if (violation) throw new Error(`${request.operation}: ${violation}`)
      }),
      { numRuns: requests, seed },
    )
  } finally {
    await management.remove()
  }
}

async function startRound(management: TestManagement, key: string): Promise<Round> {
  const superadmin = await management.signIn('superadmin')
  const hierarchy = await createHierarchy(management, key)
  const assigned = { customers: [hierarchy.customer_id] }
  const users = {
    superadmin,
    admin: await management.signIn('admin', { organization: hierarchy.organization_id }),
    manager: await management.signIn('manager', assigned),
    viewer: await management.signIn('viewer', assigned),
    unauthenticated: null,
  }
  const ids = Object.entries({ ...hierarchy, user_id: users.viewer.user_id }).map(
    ([name, id]): [string, string] => [toPlaceholder(name.replace(/_id$/, '')), id],
  )
  return { users, ids }
}

const anything = fc.oneof(
  fc.json(),
  fc.string(),
  fc.constantFrom('', 'null', '[]', '{"__proto__":{"user_id":1}}'),
)

/** CSV files in which some rows are valid modules and components. */
const csvFile = fc
  .array(
    fc.tuple(
      fc.constantFrom('mod', 'comp', 'mod', ''),
      fc.oneof(fc.constantFrom('a', 'b', '1'), fc.string({ unit: 'binary' })),
      fc.string(),
      fc.constantFrom('viewer', 'admin|viewer', '', 'king'),
      fc.constantFrom('/a', ''),
      fc.constantFrom('a', 'b', ''),
    ),
    { maxLength: 4 },
  )
  .map(rows => rows.map(row => row.join(',')).join('\n'))

const createRequest = (route: ManagementRoute): fc.Arbitrary<Request> =>
  fc.record({
    operation: fc.constant(formatOperation(route)),
    caller: fc.constantFrom(...callers),
    query: createQueryArbitrary(route),
    body: route.body
      ? createBody(createArbitrary(route.body))
      : route.fileField
        ? csvFile
        : anything,
  })

const createBody = (values: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: values.map(value => JSON.stringify(value)) }, anything)

function send(
  management: TestManagement,
  { method, path, fileField }: ManagementRoute,
  { caller, query, body }: Request,
  { users, ids }: Round,
) {
  const fillPlaceholders = (text: string) =>
    ids.reduce((filled, [placeholder, id]) => filled.replaceAll(placeholder, id), text)
  const user = users[caller]
  const bearer = user && { authorization: `Bearer ${user.token}` }
  if (fileField) {
    const form = new FormData()
    form.set(fileField, new File([body], 'file'))
    return management.request(path, { method: 'POST', headers: { ...bearer }, body: form })
  }
  const headers = { 'content-type': 'application/json', ...bearer }
  return method === 'get'
    ? management.request(path + fillPlaceholders(query.replaceAll('%40', '@')), { headers })
    : management.request(path, { method: 'POST', headers, body: fillPlaceholders(body) })
}

/** Errors that a client can cause. */
const clientErrors = [400, 401, 403, 404, 409, 413, 415]
/** Operations that call an engine or media. Neither is running, so these respond with 503. */
const remoteOperations = ['/engine/plugins', '/engine/repair', '/media/ticket']

/** Describes how a response violates the contract of its route; undefined when it conforms. */
async function findViolation(
  route: ManagementRoute,
  answer: Response,
): Promise<string | undefined> {
  if (answer.ok && route.responseType !== undefined) {
    const type = answer.headers.get('content-type') ?? ''
    return type === '' || type.startsWith('application/json') ? `file of type "${type}"` : undefined
  }
  const text = await answer.text()
  const isUnavailable = answer.status === 503 && remoteOperations.includes(route.path)
  if (!answer.ok && !isUnavailable && !clientErrors.includes(answer.status)) {
    return `${answer.status} ${text}`
  }
  const value = answer.ok ? (route.response ?? z.null()) : fieldErrors.nullable()
  const parsed = envelope(value).safeParse(JSON.parse(text))
  if (!parsed.success) return `response violates the contract: ${parsed.error.message} in ${text}`
  return parsed.data.response_code === answer.status
    ? undefined
    : `status is ${answer.status} but response_code is ${parsed.data.response_code}`
}
