import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import type { Context } from 'hono'
import type { z } from 'zod'
import type { Database, Transaction } from '../../db/database.ts'
import { missingRecords } from '../../errors/field-errors.ts'
import { isReadOnly } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import { explainDenial } from './policy-errors.ts'
import { assertReferencesExist, listReferences } from './references.ts'

// A route is the description of an operation in the API contract. The types in this file derive
// from the type `R` of a route what its handler receives and returns.

/** The validated fields of a request to a route: its body, or else its query. */
export type Input<R extends ManagementRoute> = R extends { body: infer Body extends z.ZodType }
  ? z.output<Body>
  : R extends { query: infer Query extends z.ZodType }
    ? z.output<Query>
    : undefined

/** A request that has been authorized and validated against the contract. */
export interface Call<R extends ManagementRoute = ManagementRoute> {
  input: Input<R>
  /** Undefined only on routes that are open to anyone. */
  caller: R['access'] extends 'anyone' ? Principal | undefined : Principal
  /** The uploaded file, on routes that accept one. */
  file: R extends { fileField: string } ? File : undefined
  context: Context
}

export interface Reply<Value = unknown> {
  value: Value
  /** Replaces the summary of the route. */
  message?: string
  status?: 200 | 201 | 202
  /** Id of the record that was created. The `Location` header of the response points to it. */
  createdId?: string
  /** The entity tag of the record, on routes with `hasEtag`. */
  etag?: string
}

/** The value that a route returns. `never` if it returns none. */
type ResponseValue<R extends ManagementRoute> = R extends {
  response: infer Schema extends z.ZodType
}
  ? z.input<Schema>
  : never

/**
 * The result of a handler. It depends on the route's `response`: a schema requires a reply with a
 * value, `null` allows a reply without one, and a route without `response` requires a response of
 * its own, such as a file.
 */
type HandlerResult<R extends ManagementRoute> = R extends { response: infer Schema }
  ? Schema extends z.ZodType
    ? Reply<z.input<Schema>>
    : OptionalReply
  : Response

// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a reply needs no `return`.
type OptionalReply = Partial<Reply<null>> | void
type AnyResult = Partial<Reply> | Response | OptionalReply

/** A route of the API contract and the function that handles its requests. */
export interface Operation {
  route: ManagementRoute
  handle(call: Call, database: Database): Promise<Reply | Response>
}

export type Method = 'get' | 'post'

/**
 * Returns the methods of a route. A POST route that the `Location` of a created record points to
 * answers GET too, with the fields of its body as query parameters.
 */
export function listMethods(
  { method, path }: ManagementRoute,
  routes: readonly ManagementRoute[],
): Method[] {
  const isLocation = routes.some(({ readBack }) => readBack?.path === path)
  return method === 'post' && isLocation ? ['get', 'post'] : [method]
}

/**
 * Defines an operation that runs in one transaction with the rights of the caller. The operation
 * fails if a record to which the input refers does not exist. `assertAllowed` runs before the
 * transaction: it rejects callers who must not learn whether a record exists.
 */
export function defineOperation<const R extends ManagementRoute>(
  route: R,
  handle: (call: Call<R>, tx: Transaction) => Promise<HandlerResult<R>>,
  assertAllowed: (call: Call<R>) => void = () => {},
): Operation {
  // The result of a reading operation can be discarded if the check fails.
  const runWithCheck = isReadOnly(route) ? checkWhileWorking : checkThenWork
  const work = (call: Call<R>, tx: Transaction) =>
    runWithCheck(
      () => assertReferencesExist(tx, route, call.input),
      () => handle(call, tx),
    )
  return inTransaction(route, work, assertAllowed)
}

/**
 * Defines an operation that reads the record whose id is the input. `find` resolves to undefined if
 * the record does not exist or is invisible to the caller. The operation then fails.
 */
export const defineLookup = <const R extends ManagementRoute>(
  route: R,
  find: (call: Call<R>, tx: Transaction) => Promise<ResponseValue<R> | undefined>,
): Operation =>
  inTransaction(route, async (call, tx) => {
    const value = await find(call, tx)
    if (value === undefined) throw missingRecords(listReferences(route, call.input))
    return { value }
  })

/**
 * Defines an operation that starts its transactions itself. Some operations must not keep a
 * transaction open while they wait for a service or hash a password, and others have no caller yet.
 */
export function defineMultiStepOperation<const R extends ManagementRoute>(
  route: R,
  handle: (call: Call<R>, database: Database) => Promise<HandlerResult<R>>,
): Operation {
  return {
    route,
    handle: async (call, database) => toReply(await handle(narrowCall(call), database)),
  }
}

function inTransaction<R extends ManagementRoute>(
  route: R,
  work: (call: Call<R>, tx: Transaction) => Promise<AnyResult>,
  assertAllowed: (call: Call<R>) => void = () => {},
): Operation {
  const transactionConfig = isReadOnly(route) ? ({ accessMode: 'read only' } as const) : {}
  return {
    route,
    async handle(call, database) {
      const routeCall: Call<R> = narrowCall(call)
      assertAllowed(routeCall)
      // Authorization has rejected unauthenticated callers.
      const caller = call.caller as Principal
      try {
        return toReply(
          await database.as(caller, route.path, tx => work(routeCall, tx), transactionConfig),
        )
      } catch (error) {
        throw explainDenial(error, route, caller)
      }
    },
  }
}

/** Narrows the type of a call. The API passes to an operation only the calls of its route. */
const narrowCall = <R extends ManagementRoute>(call: Call): Call<R> => call as unknown as Call<R>

/**
 * Runs the work if the check succeeds. If the work then fails with `rights`, checks again: a
 * record that was deleted in the meantime must be reported as missing.
 */
async function checkThenWork<T>(check: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  await check()
  try {
    return await work()
  } catch (error) {
    if (error instanceof EyrieError && error.code === 'rights') await check()
    throw error
  }
}

/** Runs both concurrently. An error of the check takes precedence over an error of the work. */
async function checkWhileWorking<T>(
  check: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const [checked, worked] = await Promise.allSettled([check(), work()])
  if (checked.status === 'rejected') throw checked.reason
  if (worked.status === 'rejected') throw worked.reason
  return worked.value
}

const toReply = (result: AnyResult): Reply | Response =>
  result instanceof Response ? result : { value: null, ...result }
