import { allManagementRoutes, type ManagementRoute } from '@eyrie/contract/management/index'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SignedIn } from '../../../test/fixtures/management.ts'
import {
  type AnyExample,
  type ManagementCase,
  managementCases,
} from '../../../test/fixtures/management-cases.ts'
import { type ManagementRecords, plantRecords } from '../../../test/fixtures/management-records.ts'
import { sharedManagement } from '../../../test/fixtures/shared-management.ts'
import { apiToken } from '../db/schema/index.ts'
import { newApiToken } from '../users/api-tokens.ts'
import { digestOf } from '../users/opaque-token.ts'
import { reaches } from './access.ts'
import { type Role, roles } from './principal.ts'

const leastRoles = {
  anyone: null,
  'signed-in': null,
  view: 'viewer',
  manage: 'manager',
  administer: 'admin',
  own: 'superadmin',
} as const

/** What an operation says that has let the caller through: it is done, or the records themselves stand against it. */
const letThrough = [200, 201, 202, 409, 503]

interface Ground {
  records: ManagementRecords
  /** To whom the records are assigned. */
  people: Record<Role, SignedIn>
}

const its = sharedManagement()
/** Of another organization. */
let strangers: Record<Role, SignedIn>
let reader: string
/** As it was planted: what has changed it, uses it up. */
let untouched: Ground | undefined

beforeAll(async () => {
  strangers = (await plant()).people
  reader = await apiTokenOf(its.superadmin)
}, 120_000)

async function plant(): Promise<Ground> {
  const records = await plantRecords(its.database)
  const { organization_id, customer_id } = records
  const people = {
    superadmin: its.superadmin,
    admin: await its.signIn('admin', { organization: organization_id }),
    manager: await its.signIn('manager', { customers: [customer_id] }),
    viewer: await its.signIn('viewer', { customers: [customer_id] }),
  }
  return { records, people }
}

async function apiTokenOf({ user_id }: SignedIn): Promise<string> {
  const token = newApiToken()
  const row = { user_id, name: 'reader', scopes: ['read'], secret_hash: digestOf(token) }
  await its.database.system('test', tx => tx.insert(apiToken).values(row))
  return token
}

async function ground(): Promise<Ground> {
  untouched ??= await plant()
  return untouched
}

type Outcome = number | 'let through'

const outcomeOf = (status: number): Outcome => (letThrough.includes(status) ? 'let through' : status)

/** Somebody who calls, and what is to come of it. */
interface Caller {
  name: string
  token(ground: Ground): string | undefined
  expected: Outcome
}

function callersOf({ route, example }: ManagementCase, records: ManagementRecords): Caller[] {
  const least = leastRoles[route.access]
  const may = (role: Role) => !least || reaches(role, least)
  const elsewhere = speaksOf(example, records) ? 404 : 200
  return [
    ...roles.map(role => ({
      name: `${role}, inside`,
      token: ({ people }: Ground) => people[role].token,
      expected: outcomeOf(may(role) ? (example.inside?.[role] ?? 200) : 403),
    })),
    ...roles.slice(1).map(role => ({
      name: `${role}, outside`,
      token: () => strangers[role].token,
      expected: outcomeOf(may(role) ? (example.outside?.[role] ?? elsewhere) : 403),
    })),
    {
      name: 'nobody',
      token: () => undefined,
      expected: outcomeOf(route.access === 'anyone' ? (example.inside?.viewer ?? 200) : 401),
    },
    {
      name: 'an API token of the superadmin that may only read',
      token: () => reader,
      expected: outcomeOf(
        route.requiresSession || changes(route) ? 403 : (example.inside?.superadmin ?? 200),
      ),
    },
  ]
}

async function ask({ route, example }: ManagementCase, { token }: Caller): Promise<Outcome> {
  const it = await ground()
  const status = await send(route, example, it.records, token(it))
  if (status < 300 && changes(route)) untouched = undefined
  return outcomeOf(status)
}

async function send(route: ManagementRoute, example: AnyExample, records: ManagementRecords, token?: string) {
  const as = token ? { user_id: '', email: '', token } : null
  if (!example.file) return (await its.send(route, example.input?.(records), as)).status
  const body = new FormData()
  body.set(route.fileField!, await example.file())
  const headers = token ? { authorization: `Bearer ${token}` } : undefined
  return (await its.request(route.path, { method: 'POST', body, headers })).status
}

const changes = ({ method, readOnly }: ManagementRoute) => method === 'post' && !readOnly

function speaksOf(example: AnyExample, records: ManagementRecords): boolean {
  const input = JSON.stringify(example.input?.(records) ?? '')
  const { role_id: _, usecase_id: __, ...own } = records
  return Object.values(own).some(value => input.includes(value))
}

describe('the rights of every role to every operation', () => {
  it('are tried for all routes that there are', () => {
    expect(managementCases.map(({ route }) => route).toSorted(byPath)).toEqual(
      allManagementRoutes.toSorted(byPath),
    )
    expect(managementCases.every(({ example }) => example !== undefined)).toBe(true)
  })

  it.each(managementCases)('to $name', async tried => {
    const callers = callersOf(tried, (await ground()).records)
    const isRefused = ({ expected }: Caller) => typeof expected === 'number'
    const refused = callers.filter(isRefused)
    const passing = callers.filter(caller => !isRefused(caller))
    const answers = new Map<string, Outcome>()
    const note = async (caller: Caller) => answers.set(caller.name, await ask(tried, caller))
    // Who is refused changes nothing, and so may come beside others.
    await Promise.all(refused.map(note))
    for (const caller of passing) await note(caller)
    expect(Object.fromEntries(answers)).toEqual(
      Object.fromEntries(callers.map(({ name, expected }) => [name, expected])),
    )
  })
})

const byPath = (a: ManagementRoute, b: ManagementRoute) =>
  `${a.path} ${a.method}`.localeCompare(`${b.path} ${b.method}`)
