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
 * Creates the operations of v1, the oldest revision of the API. Most of them are those of v2. In v1, a single resource is
 * returned without its id, and a deployment requires no activation.
 */
export function createV1Operations(context: ApiContext): Operation[] {
  return [
    ...createSharedOperations(context).map(toV1),
    operation(routesV1.deploy, input =>
      deployV2(context.configuration, input, createElementExpander(context.catalog)),
    ),
  ]
}

const { source, sink, pipeline } = routesV1

/** The routes that return a single resource. */
const ROUTES_WITHOUT_ID: ReadonlySet<Route> = new Set<Route>([
  source.get,
  source.update,
  sink.get,
  sink.update,
  pipeline.get,
  pipeline.update,
])

/** Returns the operation of v1 with the same method and path as an operation of v2. */
function toV1({ route: v2Route, handle }: Operation): Operation {
  const route = listRoutes(routesV1).find(
    ({ method, path }) => method === v2Route.method && path === v2Route.path,
  )!

  if (!ROUTES_WITHOUT_ID.has(route)) return { route, handle }
  return {
    route,
    handle: async input => {
      const { value, ...reply } = await handle(input)
      const { id: _, ...withoutId } = value as { id: number }
      return { ...reply, value: withoutId }
    },
  }
}

/** Creates the error handler of v1. In v1, the body of a `reference` error is the list of references alone. */
export const createV1ErrorHandler = (log: Log): ErrorHandler =>
  createErrorHandler(log, {
    toBody: error => (error.code === 'reference' && error.value ? error.value : error.toBody()),
  })
