import { z } from 'zod'
import { admittedEdits } from './capacity.ts'
import {
  earlierCatalogElement,
  earlierChannelProperties,
  earlierConfiguration,
  earlierDeployment,
  earlierExports,
  earlierModel,
  earlierPipeline,
  earlierPipelineInput,
  earlierPipelinePatch,
  earlierSource,
  earlierSourceInput,
  earlierSourcePatch,
  listedPart,
} from './earlier.ts'
import { id } from './ids.ts'
import { list } from './query.ts'
import { connections, crud, type Route, type Routes } from './route.ts'
import { routesC } from './routes.ts'
import { sink, sinkInput, sinkPatch } from './sink.ts'

/** What revisions A and B have in common. */
export const routesEarlier = {
  getConfiguration: { ...routesC.getConfiguration, answer: earlierConfiguration },
  source: admittedEdits(crud('source', earlierSource, earlierSourceInput, earlierSourcePatch)),
  sink: crud('sink', sink, sinkInput, sinkPatch),
  pipeline: admittedEdits(crud('pipeline', earlierPipeline, earlierPipelineInput, earlierPipelinePatch)),
  pipelineElements: {
    method: 'get',
    path: '/pipelines/elements',
    summary: 'Get what pipelines can be made of',
    status: 200,
    answer: z.strictObject({ elements: z.array(earlierCatalogElement), models: z.array(earlierModel) }),
    errors: [],
  },
  listElements: {
    method: 'get',
    path: '/pipelines/elements/list',
    summary: 'List elements and models, one after the other',
    query: z.object({ type: list(z.enum(['element', 'model'])).optional() }),
    status: 200,
    answer: z.array(listedPart),
    errors: ['syntax'],
  },
  ...connections(earlierPipeline),
  getExports: { ...routesC.getExports, answer: earlierExports },
  channelStatic: routesC.channelStatic,
  channelProperties: {
    ...routesC.channelProperties,
    answer: z.record(z.string(), earlierChannelProperties),
  },
  systemStatistics: routesC.systemStatistics,
  about: routesC.about,
} as const satisfies Routes

/** Revision B of the engine's API, under `/api/v2`. */
export const routesB = {
  ...routesEarlier,
  activate: routesC.activate,
  getActivation: routesC.getActivation,
  deploy: { ...routesC.deploy, body: earlierDeployment, answer: earlierConfiguration },
  pipelineStatistics: routesC.pipelineStatistics,
} as const satisfies Routes

const ids = z.array(id)
const pipelines = z.strictObject({ pipelines: ids })
const connected = z.strictObject({ sources: ids, sinks: ids })

/** Revision A of the engine's API, under `/api/v1`. */
export const routesA = {
  ...routesEarlier,
  deploy: { ...routesB.deploy, errors: ['syntax', 'capacity', 'precondition'] },
  source: withBareAnswers(routesEarlier.source, earlierSource.omit({ id: true }), pipelines),
  sink: withBareAnswers(routesEarlier.sink, sink.omit({ id: true }), pipelines),
  pipeline: withBareAnswers(routesEarlier.pipeline, earlierPipeline.omit({ id: true }), connected),
} as const satisfies Routes

/** In revision A get and update leave the id out, and a conflict is told by its value alone. */
function withBareAnswers<
  const Resource extends Record<'get' | 'update' | 'remove', Route>,
  Answer extends z.ZodType,
>(routes: Resource, answer: Answer, conflict: z.ZodType) {
  return {
    ...routes,
    get: { ...routes.get, answer },
    update: { ...routes.update, answer },
    remove: { ...routes.remove, conflict },
  }
}
