import { EyrieError } from '@eyrie/contract'
import { envelope, type ManagementRoute } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import { mountRoutes } from '@eyrie/kit/mount-routes'
import { assertBodySize } from '@eyrie/kit/request-body'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import { authorize, isReadOnly } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import { createSerializer } from './answer-json.ts'
import { createApiErrorHandler } from './api-errors.ts'
import { type Call, listMethods, type Operation, type Reply } from './operation.ts'
import { readInput, readUpload } from './read-input.ts'

const MAX_JSON_BYTES = 4 * 1024 * 1024
const MAX_FILE_BYTES = 16 * 1024 * 1024

export interface ApiOptions {
  operations: Operation[]
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /**
   * Returns the caller, or undefined without credentials. Throws `EyrieError` (`auth`) for
   * invalid credentials.
   */
  identify(context: Context, route: ManagementRoute): Promise<Principal | undefined>
  /** Called after every operation that may have changed something. */
  onChange(): void
  log: Log
}

/**
 * Creates the management API from its operations, to be mounted under `/api/v1`. An operation is a
 * route of the contract with the function that handles it. Every request is authorized, validated,
 * handled and answered here in the same way.
 */
export function createApi({ operations, log, ...options }: ApiOptions): Hono {
  const api = new Hono()
  const routes = operations.map(({ route }) => route)
  const endpoints = operations.flatMap(operation => {
    const { route } = operation
    const handlers = [createHandler(operation, options)]
    return listMethods(route, routes).map(method => ({ method, path: route.path, handlers }))
  })

  api.onError(createApiErrorHandler(log))
  mountRoutes(api, endpoints, '/api/v1')
  api.all('*', context => {
    throw new EyrieError(
      'id',
      `there is no ${context.req.path}: /api/v1/openapi.json lists all paths`,
    )
  })
  return api
}

/**
 * Returns the request handler of an operation. It authorizes the caller before it reads the input,
 * so that an unauthenticated client learns nothing about the input's errors, and cannot make
 * management read large bodies.
 */
function createHandler(
  { route, handle }: Operation,
  { database, identify, onChange }: Pick<ApiOptions, 'database' | 'identify' | 'onChange'>,
) {
  const toResponse = createResponder(route)
  const maxBytes = route.fileField ? MAX_FILE_BYTES : MAX_JSON_BYTES

  return async (context: Context): Promise<Response> => {
    const caller = await identify(context, route)
    authorize(route, caller)
    await assertBodySize(context, maxBytes)
    const input = await readInput(context, route)
    const file = route.fileField ? await readUpload(context, route) : undefined

    // Each route has its own types of input and caller. TypeScript cannot relate them
    // for an unknown route.
    const call = { input, caller, file, context } as Call
    const reply = await handle(call, database()).finally(() => {
      // Called after errors too: a failed operation may have changed something.
      if (!isReadOnly(route)) onChange()
    })
    return reply instanceof Response ? reply : toResponse(context, reply)
  }
}

/** Wraps replies in the response envelope. */
function createResponder(route: ManagementRoute): (context: Context, reply: Reply) => Response {
  const serialize = createSerializer(envelope(route.response ?? z.null()))
  return (context, { value, message = route.summary, createdId, etag, status = route.status }) => {
    const { readBack } = route
    if (etag) context.header('ETag', etag)
    if (readBack && createdId) {
      context.header('Location', `/api/v1${readBack.path}?${readBack.by}=${createdId}`)
    }

    const response = route.response ? value : null
    const body = serialize({ message, response, response_code: status })
    return context.body(body, status, { 'Content-Type': 'application/json' })
  }
}
