import type { Override } from '@eyrie/contract/capacity'
import { syntaxError } from '@eyrie/contract/parse'
import type { Route } from '@eyrie/contract/routes-v3'
import type { z } from 'zod'
import type { Resources } from '../../configuration/resources.ts'
import { type Operation, operation } from '../routing/operation.ts'

type One = Route & { params: z.ZodType<{ id: number }> }
type WithBody<Body, Stored> = { body: z.ZodType<Body>; response: z.ZodType<Stored> }
type Named = { id?: number | undefined }
/** Sinks have nothing to override. */
type MayOverride = { query?: z.ZodType<{ override?: Override | undefined }> }

/** The six routes that sources, sinks and pipelines have. */
interface ResourceRoutes<Stored, Input> {
  list: Route & { response: z.ZodType<Stored[]> }
  create: Route & MayOverride & WithBody<Input, Stored>
  get: One & { response: z.ZodType<Stored> }
  update: One & MayOverride & WithBody<Input & Named, Stored>
  modify: One & MayOverride & WithBody<Named, Stored>
  remove: One & { query: z.ZodType<{ force: boolean }>; response: null }
}

/** What serving resources takes of them. */
export type ServedResources<Stored extends { id: number }, Input> = Omit<
  Resources<Stored, Input>,
  'change' | 'updateFrom'
>

export function resourceOperations<Stored extends { id: number }, Input>(
  routes: ResourceRoutes<Stored, Input>,
  resources: ServedResources<Stored, Input>,
): Operation[] {
  return [
    operation(routes.list, resources.list),
    operation(routes.create, ({ query, body, ifMatch }) => resources.create(body, ifMatch, query?.override)),
    operation(routes.get, ({ params }) => resources.get(params.id)),
    operation(routes.update, ({ params, query, body, ifMatch }) => {
      requireSameId(body, params.id)
      return resources.update(params.id, body, ifMatch, query?.override)
    }),
    operation(routes.modify, ({ params, query, body, ifMatch }) => {
      requireSameId(body, params.id)
      const { id: _, ...patch } = body
      return resources.modify(params.id, patch, ifMatch, query?.override)
    }),
    operation(routes.remove, async ({ params, query, ifMatch }) => {
      await resources.remove(params.id, query.force, ifMatch)
      return {}
    }),
  ]
}

/** An id in the body may only repeat the path's. */
function requireSameId({ id }: Named, pathId: number): void {
  if (id !== undefined && id !== pathId) throw syntaxError('/id', `the path names ${pathId}`)
}
