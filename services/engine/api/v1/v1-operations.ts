import { listRoutes, type Route } from '@eyrie/contract/engine-route'
import { routesV1 } from '@eyrie/contract/routes-v2'
import { createErrorHandler } from '@eyrie/kit/http-errors'
import type { Log } from '@eyrie/kit/log'
import type { ErrorHandler } from 'hono'
import type { ApiContext } from '../operations/api-context.ts'
import { createElementExpander } from '../operations/short-form.ts'
import { type Operation, operation } from '../routing/operation.ts'
import { deployV2 } from '../v2/v2-deployment.ts'
import { createSharedOperations } from '../v2/v2-operations.ts'

/**
 * Creates the operations of v1, the oldest revision of the API. All but the deployment are shared
 * with v2: they have the same methods, paths and effects. A deployment in v1 requires no
 * activation, so v1 has an operation of its own, which still uses the deployment of v2.
 */
export function createV1Operations(context: ApiContext): Operation[] {
  return [
    ...createSharedOperations(context).map(toV1),
    operation(routesV1.deploy, input =>
      deployV2(context.configuration, input, createElementExpander(context.catalog)),
    ),
  ]
}

/**
 * The v1 routes whose response is a single resource. In v1, such a resource is
 * returned without its id.
 */
const ROUTES_WITHOUT_ID: ReadonlySet<Route> = new Set<Route>([
  routesV1.source.get,
  routesV1.source.update,
  routesV1.sink.get,
  routesV1.sink.update,
  routesV1.pipeline.get,
  routesV1.pipeline.update,
])

/**
 * Converts an operation that v1 and v2 share, which is defined with its v2 route, into
 * the operation of v1.
 */
function toV1({ route: v2Route, handle }: Operation): Operation {
  const route = findV1Route(v2Route)
  if (!ROUTES_WITHOUT_ID.has(route)) return { route, handle }
  return {
    route,
    handle: async input => {
      const reply = await handle(input)
      return { ...reply, value: omitId(reply.value) }
    },
  }
}

function findV1Route({ method, path }: Route): Route {
  const route = listRoutes(routesV1).find(
    candidate => candidate.method === method && candidate.path === path,
  )
  if (!route) {
    throw new Error(
      `v1 has no route ${method} ${path}: add it to routesV1, or do not share its operation`,
    )
  }
  return route
}

/**
 * Returns a resource without its id. The response schema of each route in `ROUTES_WITHOUT_ID` is a
 * resource with an id.
 */
function omitId(resource: unknown): object {
  const { id: _, ...withoutId } = resource as { id: number }
  return withoutId
}

/**
 * Creates the error handler of v1. In v1, the body of a `reference` error is the list
 * of references alone.
 */
export const createV1ErrorHandler = (log: Log): ErrorHandler =>
  createErrorHandler(log, {
    toBody: error => (error.code === 'reference' && error.value ? error.value : error.toBody()),
  })
