import type { Override } from '@eyrie/contract/capacity'
import { syntaxError } from '@eyrie/contract/parse'
import type { Route } from '@eyrie/contract/routes-v3'
import type { z } from 'zod'
import type { Resources } from '../../configuration/resources.ts'
import { type Operation, operation } from '../routing/operation.ts'

type RouteWithId = Route & { params: z.ZodType<{ id: number }> }
type WithBody<Body, Stored> = { body: z.ZodType<Body>; response: z.ZodType<Stored> }
type OptionalId = { id?: number | undefined }
/** The routes of sinks have no override, because sinks need no capacity. */
type OptionalOverride = { query?: z.ZodType<{ override?: Override | undefined }> }

/**
 * The six routes that sources, sinks and pipelines have in all revisions of the API, reduced to the
 * parts on which the operations depend.
 */
interface ResourceRoutes<Stored, Input> {
  list: Route & { response: z.ZodType<Stored[]> }
  create: Route & OptionalOverride & WithBody<Input, Stored>
  get: RouteWithId & { response: z.ZodType<Stored> }
  update: RouteWithId & OptionalOverride & WithBody<Input & OptionalId, Stored>
  modify: RouteWithId & OptionalOverride & WithBody<OptionalId, Stored>
  remove: RouteWithId & { query: z.ZodType<{ force: boolean }>; response: null }
}

/** The operations on resources that the API offers. */
export type ServedResources<Stored extends { id: number }, Input> = Omit<
  Resources<Stored, Input>,
  'updateFrom' | 'updateStored'
>

/** Creates the operations of the routes of sources, sinks or pipelines. */
export function createResourceOperations<Stored extends { id: number }, Input>(
  routes: ResourceRoutes<Stored, Input>,
  resources: ServedResources<Stored, Input>,
): Operation[] {
  return [
    operation(routes.list, resources.list),
    operation(routes.create, ({ query, body, ifMatch }) =>
      resources.create(body, { ifMatch, override: query?.override }),
    ),
    operation(routes.get, ({ params }) => resources.get(params.id)),
    operation(routes.update, ({ params, query, body, ifMatch }) => {
      assertSameId(body, params.id)
      return resources.update(params.id, body, { ifMatch, override: query?.override })
    }),
    operation(routes.modify, ({ params, query, body, ifMatch }) => {
      assertSameId(body, params.id)
      const { id: _, ...patch } = body
      return resources.modify(params.id, patch, { ifMatch, override: query?.override })
    }),
    operation(routes.remove, async ({ params, query, ifMatch }) => {
      await resources.remove(params.id, { force: query.force, ifMatch })
      return {}
    }),
  ]
}

/** Throws `EyrieError` (`syntax`) if the body contains another id than the path. */
function assertSameId({ id }: OptionalId, pathId: number): void {
  if (id !== undefined && id !== pathId) {
    throw syntaxError('/id', `the id is ${id} in the body but ${pathId} in the path`)
  }
}
