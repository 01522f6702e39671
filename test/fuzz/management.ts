import {
  allManagementRoutes,
  envelope,
  fieldErrors,
  type ManagementRoute,
} from '@eyrie/contract/management/index'
import fc from 'fast-check'
import { z } from 'zod'
import { makeHierarchy } from '../fixtures/hierarchy.ts'
import { type ManagementUnderTest, type SignedIn, startManagement } from '../fixtures/management.ts'
import type { DatabaseServer } from '../fixtures/provide-database-server.ts'
import { arbitraryOf, idOf } from './arbitrary.ts'
import type { FuzzOptions } from './fuzz.ts'
import { queryOf } from './request.ts'

/** Users and records are made anew after so many requests, so that there is always something to ask for. */
const FRESH_AFTER = 200

const callers = ['superadmin', 'admin', 'manager', 'viewer', 'nobody'] as const
type Caller = (typeof callers)[number]

interface Request {
  operation: string
  caller: Caller
  query: string
  body: string
}

const operationOf = ({ method, path }: ManagementRoute) => `${method} ${path}`
const routes = new Map(allManagementRoutes.map(route => [operationOf(route), route]))

/** Who calls, and the ids that stand for what they name. */
interface Round {
  users: Record<Caller, SignedIn | null>
  ids: [placeholder: string, id: string][]
}

export interface ManagementFuzzOptions extends FuzzOptions {
  /** Where the database is, outside of a run of tests. */
  server?: DatabaseServer
}

/**
 * Sends requests to every operation of the management API, as every role, and holds each answer to the contract. Throws
 * an Error with the shortest request that breaks it, and the seed to see it again.
 */
export async function fuzzManagement(options: ManagementFuzzOptions): Promise<void> {
  const { requests, seed, onProgress, server } = options
  const its = await startManagement({ server })
  let sent = 0
  let round: Round
  try {
    await fc.assert(
      fc.asyncProperty(fc.oneof(...allManagementRoutes.map(requestTo)), async request => {
        if (sent++ % FRESH_AFTER === 0) {
          round = await begin(its, `round-${sent}`)
          onProgress?.(sent - 1)
        }
        const route = routes.get(request.operation)!
        const fault = await faultOf(route, await send(its, route, request, round))
        if (fault) throw new Error(`${request.operation}: ${fault}`)
      }),
      { numRuns: requests, seed },
    )
  } finally {
    await its.remove()
  }
}

async function begin(its: ManagementUnderTest, key: string): Promise<Round> {
  const superadmin = await its.signIn('superadmin')
  const made = await makeHierarchy(its, key)
  const assigned = { customers: [made.customer_id] }
  const users = {
    superadmin,
    admin: await its.signIn('admin', { organization: made.organization_id }),
    manager: await its.signIn('manager', assigned),
    viewer: await its.signIn('viewer', assigned),
    nobody: null,
  }
  const ids = Object.entries({ ...made, user_id: users.viewer.user_id }).map(
    ([name, id]): [string, string] => [idOf(name.replace(/_id$/, '')), id],
  )
  return { users, ids }
}

const anything = fc.oneof(
  fc.json(),
  fc.string(),
  fc.constantFrom('', 'null', '[]', '{"__proto__":{"user_id":1}}'),
)

/** CSV of which some rows are modules and components. */
const table = fc
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

const requestTo = (route: ManagementRoute): fc.Arbitrary<Request> =>
  fc.record({
    operation: fc.constant(operationOf(route)),
    caller: fc.constantFrom(...callers),
    query: queryOf(route),
    body: route.body ? bodyOf(arbitraryOf(route.body)) : route.fileField ? table : anything,
  })

const bodyOf = (fitting: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: fitting.map(value => JSON.stringify(value)) }, anything)

function send(
  its: ManagementUnderTest,
  { method, path, fileField }: ManagementRoute,
  { caller, query, body }: Request,
  { users, ids }: Round,
) {
  const named = (text: string) =>
    ids.reduce((whole, [placeholder, id]) => whole.replaceAll(placeholder, id), text)
  const as = users[caller]
  const bearer = as && { authorization: `Bearer ${as.token}` }
  if (fileField) {
    const form = new FormData()
    form.set(fileField, new File([body], 'file'))
    return its.request(path, { method: 'POST', headers: { ...bearer }, body: form })
  }
  const headers = { 'content-type': 'application/json', ...bearer }
  return method === 'get'
    ? its.request(path + named(query.replaceAll('%40', '@')), { headers })
    : its.request(path, { method: 'POST', headers, body: named(body) })
}

/** What a caller can meet. */
const known = [400, 401, 403, 404, 409, 413, 415]
/** What asks an engine or media: there is none here, and it has to say so. */
const askOthers = ['/engine/repair', '/media/ticket']

/** In which way an answer is not what its route promises; undefined if it is. */
async function faultOf(route: ManagementRoute, answer: Response): Promise<string | undefined> {
  const isFile = answer.ok && route.response === undefined
  if (isFile) return undefined
  const text = await answer.text()
  const isAway = answer.status === 503 && askOthers.includes(route.path)
  if (!answer.ok && !isAway && !known.includes(answer.status)) return `${answer.status} ${text}`
  const value = answer.ok ? (route.response ?? z.null()) : fieldErrors.nullable()
  const parsed = envelope(value).safeParse(JSON.parse(text))
  if (!parsed.success) return `not as the contract says: ${parsed.error.message} in ${text}`
  return parsed.data.response_code === answer.status
    ? undefined
    : `${answer.status} as ${parsed.data.response_code}`
}
