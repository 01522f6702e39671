import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId } from './record-fields.ts'

export const usecase = z
  .object({
    usecase_id: recordId,
    usecase_key: z.string(),
    usecase_name: z.string(),
    usecase_desc: z.string(),
    usecase_icon: z.string(),
    usecase_background_color: z.string(),
    usecase_component_key: z.string(),
    usecase_meta_key: z.array(z.string()).meta({ description: 'Statistics of its channels' }),
  })
  .meta({ id: 'Usecase' })
export type Usecase = z.infer<typeof usecase>

/** Keyword in the `output_schema` of an element with which a plugin defines a usecase. */
export const USECASE_KEYWORD = 'x-usecase'

/**
 * A statistic of the usecase. A custom statistic defines its aggregation over time: `last` is the newest value of a
 * counter, `sum` the increase of a counter, `mean` the mean of the event field with this name. Without a counter, the
 * statistic is computed from events of the type with this name.
 */
const metaKey = z
  .union([name, z.strictObject({ key: name, aggregation: z.enum(['sum', 'mean', 'last']).default('last') })])
  .transform(metaKey =>
    typeof metaKey === 'string' ? { key: metaKey, aggregation: 'last' as const } : metaKey,
  )

/** A usecase that a plugin defines. */
export const pluginUsecase = z.object({
  key: name,
  name,
  description: z.string().default(''),
  meta_keys: z.array(metaKey).default([]),
})
export type PluginUsecase = z.infer<typeof pluginUsecase>

export const usecaseRoutes = {
  list: route({
    method: 'get',
    path: '/usecase/list',
    summary: 'List usecases',
    access: 'view',
    status: 200,
    response: z.array(usecase),
  }),
}
