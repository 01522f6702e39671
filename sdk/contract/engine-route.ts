import { z } from 'zod'
import { overrideQuery } from './capacity.ts'
import type { ErrorCode } from './errors.ts'
import { id, idList } from './ids.ts'
import { flagParameter, idParameter } from './parameters.ts'

/**
 * An operation of the engine's REST API. The server, its OpenAPI document and its clients
 * are derived from it.
 */
export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Relative to the root of the API revision, such as `/sources/{id}`. */
  path: string
  summary: string
  /** What the client's token must permit in addition to the use of the API. */
  scope?: 'plugins'
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** Media type of a binary request body. The default is JSON. */
  contentType?: 'application/gzip'
  /** Status of a successful response. */
  status: 200 | 201 | 204
  /** Status of a create operation if an identical resource already exists. */
  unchangedStatus?: 200
  /** Body of a successful response; null if it has none. */
  response: z.ZodType | null
  errors: readonly ErrorCode[]
  /** Body of responses with status 409, if it is not the error body. */
  conflictBody?: z.ZodType
}

export const idParams = z.object({ id: idParameter })
export const forceQuery = z.object({ force: flagParameter })

/**
 * Marks a route that may increase the load of the machine: adds the `capacity` error and the
 * query to override it.
 */
export const withCapacityCheck = <const R extends Route>(route: R) => ({
  ...route,
  query: overrideQuery,
  errors: [...route.errors, 'capacity'] as const,
})

/** Applies `withCapacityCheck` to the routes that create and change a resource. */
export const withCapacityChecks = <const R extends Record<'create' | 'update' | 'modify', Route>>(
  routes: R,
) => ({
  ...routes,
  create: withCapacityCheck<R['create']>(routes.create),
  update: withCapacityCheck<R['update']>(routes.update),
  modify: withCapacityCheck<R['modify']>(routes.modify),
})

/** Adds an optional id to the body of an update, because clients may repeat the id in the path. */
const withOptionalId = <Shape extends z.ZodRawShape>(body: z.ZodObject<Shape, z.core.$strict>) =>
  body.extend({ id: id.optional() })

/** Creates the routes of a kind of resource: sources, sinks or pipelines. */
export function crudRoutes<
  Name extends string,
  Stored extends z.ZodType,
  Input extends z.ZodRawShape,
  Patch extends z.ZodRawShape,
>(
  name: Name,
  stored: Stored,
  input: z.ZodObject<Input, z.core.$strict>,
  patch: z.ZodObject<Patch, z.core.$strict>,
) {
  const path = `/${name}s`
  const resourcePath = `${path}/{id}`
  return {
    list: {
      method: 'get',
      path,
      summary: `List ${name}s`,
      status: 200,
      response: z.array(stored),
      errors: [],
    },

    create: {
      method: 'post',
      path,
      summary: `Create a ${name}`,
      body: input,
      status: 201,
      response: stored,
      errors: ['syntax', 'id', 'precondition'],
    },

    get: {
      method: 'get',
      path: resourcePath,
      summary: `Get a ${name}`,
      params: idParams,
      status: 200,
      response: stored,
      errors: ['id'],
    },

    update: {
      method: 'put',
      path: resourcePath,
      summary: `Replace a ${name}`,
      params: idParams,
      body: withOptionalId(input),
      status: 200,
      response: stored,
      errors: ['syntax', 'id', 'precondition'],
    },

    modify: {
      method: 'patch',
      path: resourcePath,
      summary: `Update a ${name} with a merge patch (RFC 7386)`,
      params: idParams,
      body: withOptionalId(patch),
      status: 200,
      response: stored,
      errors: ['syntax', 'id', 'precondition'],
    },

    remove: {
      method: 'delete',
      path: resourcePath,
      summary: `Delete a ${name}`,
      params: idParams,
      query: forceQuery,
      status: 204,
      response: null,
      errors: ['id', 'syntax', 'reference', 'precondition'],
    },
  } as const satisfies Record<string, Route>
}

/** Creates the routes that connect sources and sinks to a pipeline and disconnect them. */
export function connectionRoutes<Pipeline extends z.ZodType>(pipeline: Pipeline) {
  const connectionRoute = (kind: 'sources' | 'sinks', verb: 'connect' | 'disconnect') =>
    ({
      method: 'post',
      path: `/pipelines/{id}/${verb}-${kind}`,
      summary:
        verb === 'connect' ? `Connect ${kind} to a pipeline` : `Disconnect ${kind} from a pipeline`,
      params: idParams,
      body: idList,
      status: 200,
      response: pipeline,
      errors: ['syntax', 'id', 'precondition'],
    }) as const satisfies Route

  return {
    connectSources: withCapacityCheck(connectionRoute('sources', 'connect')),
    disconnectSources: connectionRoute('sources', 'disconnect'),
    connectSinks: connectionRoute('sinks', 'connect'),
    disconnectSinks: connectionRoute('sinks', 'disconnect'),
  }
}

/** The routes of an API revision, by operation. The routes of a kind of resource are grouped. */
export type Routes = Record<string, Route | Record<string, Route>>

/** Returns all routes of a revision as a flat list. */
export function listRoutes(routes: Routes): Route[] {
  return Object.values(routes).flatMap(entry => (isRoute(entry) ? [entry] : Object.values(entry)))
}

const isRoute = (entry: Routes[string]): entry is Route => typeof entry.path === 'string'
