import { listRoutes, type Route } from '@eyrie/contract/engine-route'
import { routesV1 } from '@eyrie/contract/routes-v2'
import type { Core } from '../core.ts'
import { type Operation, operation } from '../operation.ts'
import { longFormsBy } from '../short-form.ts'
import { deployEarlier } from '../v2/deploy.ts'
import { earlierOperations } from '../v2/operations.ts'

/** Every operation of revision A: what it shares with B, without ids where A has none and without activation. */
export function operationsA(core: Core): Operation[] {
  return [
    ...earlierOperations(core).map(inRevisionA),
    operation(routesV1.deploy, input => deployEarlier(core.configuration, input, longFormsBy(core.catalog))),
  ]
}

const { source, sink, pipeline } = routesV1
const withoutId: ReadonlySet<Route> = new Set<Route>(
  [source, sink, pipeline].flatMap(({ get, update }) => [get, update]),
)

function inRevisionA({ route, handle }: Operation): Operation {
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
