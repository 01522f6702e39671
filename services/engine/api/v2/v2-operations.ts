import type { CatalogElement, CatalogEntryV2 } from '@eyrie/contract'
import { routesV1AndV2 as routes, routesV2 } from '@eyrie/contract/routes-v2'
import type { ApiContext } from '../operations/api-context.ts'
import {
  listChannels,
  listStreams,
  readChannelProperties,
  readStaticMetadata,
} from '../operations/channel-exports.ts'
import { createConnectionOperations } from '../operations/connection-operations.ts'
import { describeEngine } from '../operations/engine-status.ts'
import { createResourceOperations } from '../operations/resource-operations.ts'
import { selectParts } from '../operations/select-parts.ts'
import { createElementExpander } from '../operations/short-form.ts'
import { type Operation, operation, valueOperation } from '../routing/operation.ts'
import { deployV2, toV2Configuration } from './v2-deployment.ts'
import {
  createV2Pipelines,
  createV2Sources,
  toV2Channel,
  toV2Models,
  toV2Pipeline,
  toV2Properties,
} from './v2-resources.ts'

/**
 * Creates the operations of v2, an older revision of the API: binds its routes to the
 * components of the engine.
 */
export function createV2Operations(context: ApiContext): Operation[] {
  const { activation, configuration, runtime } = context
  return [
    ...createSharedOperations(context),
    valueOperation(routesV2.activate, ({ body, query }) => activation.activate(body, query)),
    valueOperation(routesV2.getActivation, () => activation.get()),
    operation(routesV2.deploy, input => {
      activation.assertActivated()
      return deployV2(configuration, input, createElementExpander(context.catalog))
    }),
    valueOperation(routesV2.pipelineStatistics, ({ params: { id } }) => {
      const { value: pipeline } = configuration.pipelines.get(id)
      return runtime.pipelineStatistics(pipeline.id)
    }),
  ]
}

/** Binds the routes that v1 and v2 share, with their representation of sources and pipelines. */
export function createSharedOperations(context: ApiContext): Operation[] {
  return [
    ...createConfigurationOperations(context),
    ...createCatalogOperations(context),
    ...createExportOperations(context),
    valueOperation(routes.systemStatistics, () => context.meter.read()),
    valueOperation(routes.about, () => describeEngine(context)),
  ]
}

function createConfigurationOperations({ catalog, configuration }: ApiContext): Operation[] {
  const { sources, sinks, pipelines } = configuration
  const expandElements = createElementExpander(catalog)
  return [
    operation(routes.getConfiguration, () => toV2Configuration(configuration.get())),
    ...createResourceOperations(routes.source, createV2Sources(sources)),
    ...createResourceOperations(routes.sink, sinks),
    ...createResourceOperations(routes.pipeline, createV2Pipelines(pipelines, expandElements)),
    ...createConnectionOperations(routes, configuration, toV2Pipeline),
  ]
}

function createCatalogOperations({ catalog }: ApiContext): Operation[] {
  const listModels = () => toV2Models(catalog.models('devices'))
  return [
    valueOperation(routes.pipelineElements, () => ({
      elements: catalog.elements().map(toV2Element),
      models: listModels(),
    })),
    valueOperation(routes.listElements, ({ query: { type } }) => {
      const entries: CatalogEntryV2[] = [
        ...catalog.elements().map(({ name }) => ({ type: 'element' as const, name })),
        ...listModels().map(model => ({ type: 'model' as const, ...model })),
      ]
      return type ? entries.filter(entry => type.includes(entry.type)) : entries
    }),
  ]
}

/** In v2, the schema of the arguments has another name. */
const toV2Element = (element: CatalogElement) => ({
  name: element.name,
  paramsSchema: element.params_schema,
  passthrough: element.passthrough,
})

function createExportOperations(context: ApiContext): Operation[] {
  return [
    valueOperation(routes.getExports, ({ query: { filter } }) =>
      selectParts(filter, {
        streams: () => listStreams(context),
        channels: () => listChannels(context).map(toV2Channel),
      }),
    ),
    valueOperation(routes.channelStatic, ({ params: { id }, query: { format } }) =>
      readStaticMetadata(context, id, format),
    ),
    valueOperation(routes.channelProperties, async ({ query }) => {
      const propertiesById = await readChannelProperties(context, query)
      return Object.fromEntries(
        Object.entries(propertiesById).map(([id, properties]) => [id, toV2Properties(properties)]),
      )
    }),
  ]
}
