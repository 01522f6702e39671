import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId } from './record-fields.ts'

/**
 * A usecase in the management API: a purpose for which channels analyse video, such as people
 * counting. It determines the statistics of the channels.
 */
export const usecase = z
  .object({
    usecase_id: recordId,
    usecase_key: z.string(),
    usecase_name: z.string(),
    usecase_desc: z.string(),
    usecase_icon: z.string(),
    usecase_background_color: z
      .string()
      .meta({ description: 'Colour that clients show behind the icon' }),
    usecase_component_key: z
      .string()
      .meta({ description: 'Which component of a client shows the usecase' }),
    usecase_meta_key: z
      .array(z.string())
      .meta({ description: 'Keys of the statistics that its channels provide' }),
  })
  .meta({ id: 'Usecase' })
export type Usecase = z.infer<typeof usecase>

/**
 * Keyword in the `output_schema` of a plugin's element. Its value, a `pluginUsecase`, defines a
 * usecase in addition to the built-in ones.
 */
export const USECASE_KEYWORD = 'x-usecase'

/**
 * A statistic of a usecase that a plugin defines. Unless its key is that of a built-in statistic,
 * it is computed from the counter, event field or event type of that name. `aggregation` says how
 * the values of a period become one:
 *
 * - `last`: the newest value of the counter.
 * - `sum`: the increase of the counter.
 * - `mean`: the mean of the event field.
 *
 * If there is no such counter, `last` and `sum` count the events of the type.
 */
const usecaseStatistic = z
  .union([
    name,
    z.strictObject({ key: name, aggregation: z.enum(['sum', 'mean', 'last']).default('last') }),
  ])
  .transform(statistic =>
    typeof statistic === 'string' ? { key: statistic, aggregation: 'last' as const } : statistic,
  )

/** A usecase that a plugin defines. */
export const pluginUsecase = z.object({
  key: name,
  name,
  description: z.string().default(''),
  meta_keys: z.array(usecaseStatistic).default([]),
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
