import { EyrieError } from '@eyrie/contract'
import { envelope, type ManagementRoute } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import { limitBodySize } from '@eyrie/kit/body-limit'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import { authorize, isRead } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import { createSerializer } from './answer-json.ts'
import { answerInEnvelope } from './api-errors.ts'
import type { Call, Operation, Reply } from './operation.ts'
import { readFile, readInput } from './read-input.ts'
import { methodsOf } from './route-methods.ts'

const MAX_JSON_BYTES = 4 * 1024 * 1024
const MAX_FILE_BYTES = 16 * 1024 * 1024

export interface ApiOptions {
  operations: Operation[]
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Returns the caller, or undefined without credentials. Throws `EyrieError` (`auth`) for invalid credentials. */
  identify(context: Context, route: ManagementRoute): Promise<Principal | undefined>
  /** Called after every operation that may have changed something. */
  onChange(): void
  log: Log
}

/** The management API, to be mounted under `/api/v1`. */
export function createApi({ operations, log, ...options }: ApiOptions): Hono {
  const api = new Hono()
  const routes = operations.map(({ route }) => route)
  const methodsByPath = new Map<string, string[]>()
  api.onError(answerInEnvelope(log))
  for (const { route } of operations)
    api.post(route.path, limitBytes(route.fileField ? MAX_FILE_BYTES : MAX_JSON_BYTES))
  for (const operation of operations) {
    const { path } = operation.route
    const methods = methodsOf(operation.route, routes).map(method => method.toUpperCase())
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), ...methods])
    api.on(methods, path, createHandler(operation, options))
  }
  for (const [path, methods] of methodsByPath) handleMethodNotAllowed(api, path, methods, `/api/v1${path}`)
  api.all('*', context => {
    throw new EyrieError('id', `there is no ${context.req.path}: /api/v1/openapi.json lists what there is`)
  })
  return api
}

/** Authorizes the caller before it reads the input, so that an unauthenticated client learns nothing about the input's errors. */
function createHandler(
  { route, handle }: Operation,
  { database, identify, onChange }: Pick<ApiOptions, 'database' | 'identify' | 'onChange'>,
) {
  const toResponse = createResponder(route)
  return async (context: Context): Promise<Response> => {
    const caller = await identify(context, route)
    authorize(route, caller)
    const input = await readInput(context, route)
    const file = route.fileField ? await readFile(context, route) : undefined
    // The types of a call follow from its route, which here is any.
    const reply = await handle({ input, caller, file, context } as Call, database()).finally(() => {
      if (!isRead(route)) onChange()
    })
    return reply instanceof Response ? reply : toResponse(context, reply)
  }
}

/** Wraps replies in the response envelope. */
function createResponder(route: ManagementRoute): (context: Context, reply: Reply) => Response {
  const serialize = createSerializer(envelope(route.response ?? z.null()))
  return (context, { value, message = route.summary, created, status = route.status }) => {
    if (route.readBack && created)
      context.header('Location', `/api/v1${route.readBack.path}?${route.readBack.by}=${created}`)
    const response = route.response ? value : null
    const body = serialize({ message, response, response_code: status })
    return context.body(body, status, { 'Content-Type': 'application/json' })
  }
}

const limitBytes = (max: number) =>
  limitBodySize(max, () => new EyrieError('size', `the body is larger than ${max / 1024 / 1024} MiB`))
