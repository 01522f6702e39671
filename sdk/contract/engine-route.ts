import { z } from 'zod'
import { withCapacityCheck } from './capacity.ts'
import type { ErrorCode } from './errors.ts'
import { id, idList } from './ids.ts'
import { flagParameter, idParameter } from './parameters.ts'

/** An operation of the REST API, as data: the server, its document and its clients are derived from it. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  summary: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** Media type of a body that is no JSON but bytes. */
  contentType?: 'application/gzip'
  /** Status of success and its body; null where there is none. */
  status: 200 | 201 | 204
  /** Status where what was to be created is there already. */
  unchangedStatus?: 200
  response: z.ZodType | null
  errors: readonly ErrorCode[]
  /** Body of 409 where it is no error body. */
  conflictBody?: z.ZodType
}

export const idParams = z.object({ id: idParameter })
export const forceQuery = z.object({ force: flagParameter })

/** An update's body may repeat the id that its path names. */
const mayNameId = <Shape extends z.ZodRawShape>(body: z.ZodObject<Shape, z.core.$strict>) =>
  body.extend({ id: id.optional() })

/** The six routes that sources, sinks and pipelines have. */
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
  const one = `${path}/{id}`
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
      path: one,
      summary: `Get a ${name}`,
      params: idParams,
      status: 200,
      response: stored,
      errors: ['id'],
    },
    update: {
      method: 'put',
      path: one,
      summary: `Replace a ${name}`,
      params: idParams,
      body: mayNameId(input),
      status: 200,
      response: stored,
      errors: ['syntax', 'id', 'precondition'],
    },
    modify: {
      method: 'patch',
      path: one,
      summary: `Modify a ${name} by a merge patch`,
      params: idParams,
      body: mayNameId(patch),
      status: 200,
      response: stored,
      errors: ['syntax', 'id', 'precondition'],
    },
    remove: {
      method: 'delete',
      path: one,
      summary: `Delete a ${name}`,
      params: idParams,
      query: forceQuery,
      status: 204,
      response: null,
      errors: ['id', 'syntax', 'reference', 'precondition'],
    },
  } as const satisfies Record<string, Route>
}

/** The four routes that connect a pipeline with sources and sinks. */
export function connectionRoutes<Pipeline extends z.ZodType>(pipeline: Pipeline) {
  const connection = (kind: 'sources' | 'sinks', verb: 'connect' | 'disconnect') =>
    ({
      method: 'post',
      path: `/pipelines/{id}/${verb}-${kind}`,
      summary: verb === 'connect' ? `Connect ${kind} to a pipeline` : `Disconnect ${kind} from a pipeline`,
      params: idParams,
      body: idList,
      status: 200,
      response: pipeline,
      errors: ['syntax', 'id', 'precondition'],
    }) as const satisfies Route
  return {
    connectSources: withCapacityCheck(connection('sources', 'connect')),
    disconnectSources: connection('sources', 'disconnect'),
    connectSinks: connection('sinks', 'connect'),
    disconnectSinks: connection('sinks', 'disconnect'),
  }
}

/** The routes of a revision, by the names of their operations; those of a resource stand together. */
export type Routes = Record<string, Route | Record<string, Route>>

/** Every route of a revision. */
export function listRoutes(routes: Routes): Route[] {
  return Object.values(routes).flatMap(entry => (isRoute(entry) ? [entry] : Object.values(entry)))
}

const isRoute = (entry: Routes[string]): entry is Route => typeof entry.path === 'string'
