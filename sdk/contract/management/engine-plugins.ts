import { z } from 'zod'
import { isolation } from '../health.ts'
import { plugin } from '../plugin.ts'
import { route } from './management-route.ts'
import { recordId, reference } from './record-fields.ts'

/**
 * The plugins of an engine, as the management API shows them. They are changed on the
 * machine of the engine.
 */
export const enginePlugins = z
  .object({
    engine_id: recordId,
    plugins: z.array(plugin),
    isolation: isolation.nullable().meta({
      description:
        'The boundaries around uploaded plugins; null if the engine does not report them',
    }),
  })
  .meta({ id: 'EnginePlugins' })
export type EnginePlugins = z.infer<typeof enginePlugins>

export const enginePluginRoutes = {
  plugins: route({
    method: 'get',
    path: '/engine/plugins',
    summary: 'List the plugins of an engine',
    description:
      'The answer comes from the engine itself. Changing plugins needs a token for plugins of the engine, which the management service does not have.',
    access: 'own',
    query: z.strictObject({ engine_id: reference('engine') }),
    status: 200,
    response: enginePlugins,
  }),
}
