import { EyrieError } from '@eyrie/contract'
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

/** The operations of v1. It shares most of them with v2, but has no activation and omits ids from single resources. */
export function createV1Operations(context: ApiContext): Operation[] {
  return [
    ...createSharedOperations(context).map(toV1),
    operation(routesV1.deploy, input =>
      deployV2(context.configuration, input, createElementExpander(context.catalog)),
    ),
  ]
}

const { source, sink, pipeline } = routesV1
const routesWithoutId: ReadonlySet<Route> = new Set<Route>(
  [source, sink, pipeline].flatMap(({ get, update }) => [get, update]),
)

function toV1({ route: v2Route, handle }: Operation): Operation {
  const route = listRoutes(routesV1).find(
    ({ method, path }) => method === v2Route.method && path === v2Route.path,
  )!
  if (!routesWithoutId.has(route)) return { route, handle }
  return {
    route,
    handle: async input => {
      const { value, ...reply } = await handle(input)
      const { id: _, ...rest } = value as { id: number }
      return { ...reply, value: rest }
    },
  }
}

/** In v1 the body of a reference conflict is the list of references, without `code` and `reason`. */
export function answerV1Errors(log: Log): ErrorHandler {
  const answerError = createErrorHandler(log)
  return (error, c) =>
    error instanceof EyrieError && error.code === 'reference'
      ? c.json(error.value, 409)
      : answerError(error, c)
}
