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
    /** The statistics that its channels have. */
    usecase_meta_key: z.array(z.string()),
  })
  .meta({ id: 'Usecase' })
export type Usecase = z.infer<typeof usecase>

/** The keyword of an element's `output_schema` by which a plugin brings a usecase of its own. */
export const USECASE_KEYWORD = 'x-usecase'

/**
 * A statistic that the usecase has. One of the plugin's own is aggregated over time as it says: `last` counts the newest
 * value, `sum` what a counter has grown by, `mean` the values that events carry in a field of this name. What is not
 * counted is taken from events whose type has this name.
 */
const metaKey = z
  .union([name, z.strictObject({ key: name, aggregation: z.enum(['sum', 'mean', 'last']).default('last') })])
  .transform(given => (typeof given === 'string' ? { key: given, aggregation: 'last' as const } : given))

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
