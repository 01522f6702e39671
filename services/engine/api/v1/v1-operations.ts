import { EyrieError } from '@eyrie/contract'
import { listRoutes, type Route } from '@eyrie/contract/engine-route'
import { routesV1 } from '@eyrie/contract/routes-v2'
import { createErrorHandler } from '@eyrie/kit/http-errors'
import type { Log } from '@eyrie/kit/log'
import type { ErrorHandler } from 'hono'
import type { ApiContext } from '../operations/api-context.ts'
import { longFormsBy } from '../operations/short-form.ts'
import { type Operation, operation } from '../routing/operation.ts'
import { deployEarlier } from '../v2/v2-deployment.ts'
import { earlierOperations } from '../v2/v2-operations.ts'

/** The operations of v1: those shared with v2, without activation and without the ids that v1 does not show. */
export function createV1Operations(context: ApiContext): Operation[] {
  return [
    ...earlierOperations(context).map(toV1),
    operation(routesV1.deploy, input =>
      deployEarlier(context.configuration, input, longFormsBy(context.catalog)),
    ),
  ]
}

const { source, sink, pipeline } = routesV1
const withoutId: ReadonlySet<Route> = new Set<Route>(
  [source, sink, pipeline].flatMap(({ get, update }) => [get, update]),
)

function toV1({ route, handle }: Operation): Operation {
  const own = listRoutes(routesV1).find(({ method, path }) => method === route.method && path === route.path)!
  if (!withoutId.has(own)) return { route: own, handle }
  return {
    route: own,
    handle: async input => {
      const { value, ...reply } = await handle(input)
      const { id: _, ...rest } = value as { id: number }
      return { ...reply, value: rest }
    },
  }
}

/** In v1 the body of a conflict is the list of references alone, without code and reason. */
export function answerV1Errors(log: Log): ErrorHandler {
  const answer = createErrorHandler(log)
  return (error, c) =>
    error instanceof EyrieError && error.code === 'reference' ? c.json(error.value, 409) : answer(error, c)
}
