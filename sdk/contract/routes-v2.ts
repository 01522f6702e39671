import { z } from 'zod'
import {
  connectionRoutes,
  crudRoutes,
  type Route,
  type Routes,
  withCapacityChecks,
} from './engine-route.ts'
import { id } from './ids.ts'
import { listParameter } from './parameters.ts'
import { routesV3 } from './routes-v3.ts'
import {
  catalogElementV2,
  catalogEntryV2,
  catalogModelV2,
  channelPropertiesV2,
  configurationV2,
  deploymentV2,
  exportsV2,
  pipelineInputV2,
  pipelinePatchV2,
  pipelineV2,
  sourceInputV2,
  sourcePatchV2,
  sourceV2,
} from './schemas-v2.ts'
import { sink, sinkInput, sinkPatch } from './sink.ts'

/**
 * The earlier revisions of the engine's API, v1 and v2, which existing clients still use. Routes
 * that have not changed since are taken from v3.
 */

/** Routes that v1 and v2 have in common. */
export const routesV1AndV2 = {
  getConfiguration: { ...routesV3.getConfiguration, response: configurationV2 },
  source: withCapacityChecks(crudRoutes('source', sourceV2, sourceInputV2, sourcePatchV2)),
  sink: crudRoutes('sink', sink, sinkInput, sinkPatch),
  pipeline: withCapacityChecks(
    crudRoutes('pipeline', pipelineV2, pipelineInputV2, pipelinePatchV2),
  ),
  pipelineElements: {
    method: 'get',
    path: '/pipelines/elements',
    summary: 'Get the elements and models that pipelines can use',
    status: 200,
    response: z.strictObject({
      elements: z.array(catalogElementV2),
      models: z.array(catalogModelV2),
    }),
    errors: [],
  },
  listElements: {
    method: 'get',
    path: '/pipelines/elements/list',
    summary: 'List elements and models in one flat list',
    query: z.object({ type: listParameter(z.enum(['element', 'model'])).optional() }),
    status: 200,
    response: z.array(catalogEntryV2),
    errors: ['syntax'],
  },
  ...connectionRoutes(pipelineV2),
  getExports: { ...routesV3.getExports, response: exportsV2 },
  channelStatic: routesV3.channelStatic,
  channelProperties: {
    ...routesV3.channelProperties,
    response: z.record(z.string(), channelPropertiesV2),
  },
  systemStatistics: routesV3.systemStatistics,
  about: routesV3.about,
} as const satisfies Routes

/** v2 of the engine's API, under `/api/v2`. */
export const routesV2 = {
  ...routesV1AndV2,
  activate: routesV3.activate,
  getActivation: routesV3.getActivation,
  deploy: { ...routesV3.deploy, body: deploymentV2, response: configurationV2 },
  pipelineStatistics: routesV3.pipelineStatistics,
} as const satisfies Routes

// In v1, a deletion that other resources prevent is answered with status 409 and the
// ids of these resources.
const ids = z.array(id)
const referencingPipelines = z.strictObject({ pipelines: ids })
const connectedResources = z.strictObject({ sources: ids, sinks: ids })

/** v1 of the engine's API, under `/api/v1`. */
export const routesV1 = {
  ...routesV1AndV2,
  deploy: { ...routesV2.deploy, errors: ['syntax', 'capacity', 'precondition'] },
  source: withBareBodies(routesV1AndV2.source, sourceV2.omit({ id: true }), referencingPipelines),
  sink: withBareBodies(routesV1AndV2.sink, sink.omit({ id: true }), referencingPipelines),
  pipeline: withBareBodies(
    routesV1AndV2.pipeline,
    pipelineV2.omit({ id: true }),
    connectedResources,
  ),
} as const satisfies Routes

/**
 * In v1, the responses of get and update omit the id, and the body of a conflict is only the
 * `value` of the error.
 */
function withBareBodies<
  const Resource extends Record<'get' | 'update' | 'remove', Route>,
  Response extends z.ZodType,
>(routes: Resource, response: Response, conflictBody: z.ZodType) {
  return {
    ...routes,
    get: { ...routes.get, response },
    update: { ...routes.update, response },
    remove: { ...routes.remove, conflictBody },
  }
}
