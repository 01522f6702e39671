import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import type { Context } from 'hono'
import type { z } from 'zod'
import type { Database, Transaction } from '../../db/database.ts'
import { missingRecords } from '../../errors/field-errors.ts'
import { isRead } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import { findReferences, referencesOf } from './references.ts'

/** What the caller sent, checked: the fields of the body or of the query. */
export type Input<R extends ManagementRoute> = R extends { body: infer Body extends z.ZodType }
  ? z.output<Body>
  : R extends { query: infer Query extends z.ZodType }
    ? z.output<Query>
    : undefined

/** A request of which everything has been checked that the contract says of it. */
export interface Call<R extends ManagementRoute = ManagementRoute> {
  input: Input<R>
  /** Undefined only where anyone may call. */
  caller: R['access'] extends 'anyone' ? Principal | undefined : Principal
  /** What came in the multipart field of a route that takes a file. */
  file: File | undefined
  context: Context
}

export interface Reply<Value = unknown> {
  value: Value
  /** In place of the message that goes with the status. */
  message?: string
  status?: 200 | 201 | 202
  /** Id of the record that was made. */
  created?: string
}

type Answer<R extends ManagementRoute> = R extends { response: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : never

/** A handler returns a reply, or nothing where null is answered; a response of its own where no envelope is. */
type Outcome<R extends ManagementRoute> = R extends { response: infer Answer }
  ? Answer extends z.ZodType
    ? Reply<z.input<Answer>>
    : Partial<Reply<null>> | undefined
  : Response

/** A route of the contract with what it does. */
export interface Operation {
  route: ManagementRoute
  handle(call: Call, database: Database): Promise<Reply | Response>
}

/**
 * Handles a route in one transaction, which sees and changes what the caller's rights reach. `admit` refuses
 * who may not even know what there is.
 */
export function operation<const R extends ManagementRoute>(
  route: R,
  handle: (call: Call<R>, tx: Transaction) => Promise<Outcome<R>>,
  admit: (call: Call<R>) => void = () => {},
): Operation {
  const checked = isRead(route) ? together : oneAfterOther
  return transacted(
    route,
    (call, tx) =>
      checked(
        () => findReferences(tx, route, call.input),
        () => handle(call, tx),
      ),
    admit,
  )
}

/**
 * Handles a route that reads the record which its input names. Nobody has to ask whether there is one that the caller
 * sees: who looks for it finds out.
 */
export const lookup = <const R extends ManagementRoute>(
  route: R,
  find: (call: Call<R>, tx: Transaction) => Promise<Answer<R> | undefined>,
): Operation =>
  transacted(route, async (call, tx) => {
    const value = await find(call, tx)
    if (value === undefined) throw missingRecords(referencesOf(route, call.input))
    return { value }
  })

function transacted<R extends ManagementRoute>(
  route: R,
  work: (call: Call<R>, tx: Transaction) => Promise<Partial<Reply> | Response | undefined>,
  admit: (call: Call<R>) => void = () => {},
): Operation {
  const config = isRead(route) ? ({ accessMode: 'read only' } as const) : {}
  return {
    route,
    async handle(call, database) {
      const own = call as unknown as Call<R>
      admit(own)
      return whole(await database.as(call.caller as Principal, route.path, tx => work(own, tx), config))
    },
  }
}

/** Where the work could not change a record, it may have gone since the check: then that is the answer. */
async function oneAfterOther<T>(check: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  await check()
  try {
    return await work()
  } catch (error) {
    if (error instanceof EyrieError && error.code === 'rights') await check()
    throw error
  }
}

/** Asks for both at once. What the work makes of references that there are not, nobody hears. */
async function together<T>(check: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const [checked, done] = await Promise.allSettled([check(), work()])
  if (checked.status === 'rejected') throw checked.reason
  if (done.status === 'rejected') throw done.reason
  return done.value
}

/** Handles a route that is more than one transaction: it waits for others, hashes, or speaks for no user yet. */
export function longOperation<const R extends ManagementRoute>(
  route: R,
  handle: (call: Call<R>, database: Database) => Promise<Outcome<R>>,
): Operation {
  return {
    route,
    handle: async (call, database) => whole(await handle(call as unknown as Call<R>, database)),
  }
}

const whole = (outcome: Partial<Reply> | Response | undefined): Reply | Response =>
  outcome instanceof Response ? outcome : { value: null, ...outcome }
