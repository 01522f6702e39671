import { z } from 'zod'
import type { Route } from './engine-route.ts'

const cores = z.number().min(0)

/** `value` of the error `capacity`, in cores: what all channels would need, what there is, and what the need is made of. */
export const capacityShortage = z
  .strictObject({
    needed: cores,
    available: cores,
    decoding: cores.meta({ description: 'Decoding the sources, and scaling their pictures' }),
    inference: cores,
    elements: cores,
    unknown: z.array(z.string()).meta({
      description: 'What has never been measured here, and is therefore counted as nothing',
    }),
  })
  .meta({ id: 'CapacityShortage' })
export type CapacityShortage = z.infer<typeof capacityShortage>

const override = z.enum(['capacity'])
export type Override = z.infer<typeof override>

export const overrideQuery = z.object({
  override: override.optional().meta({ description: 'capacity: go on even if it does not fit' }),
})

/** The route of an operation that may ask for more of the machine: it is refused with `capacity`, or overrides that. */
export const withCapacityCheck = <const R extends Route>(route: R) => ({
  ...route,
  query: overrideQuery,
  errors: [...route.errors, 'capacity'] as const,
})

/** The same for the routes of a resource. */
export const withCapacityChecks = <const R extends Record<'create' | 'update' | 'modify', Route>>(
  routes: R,
) => ({
  ...routes,
  create: withCapacityCheck<R['create']>(routes.create),
  update: withCapacityCheck<R['update']>(routes.update),
  modify: withCapacityCheck<R['modify']>(routes.modify),
})
