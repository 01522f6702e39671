import type { CatalogEntryV2 } from '@eyrie/contract'
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
import { createElementExpander } from '../operations/short-form.ts'
import { type Operation, operation } from '../routing/operation.ts'
import { includesPart } from '../routing/read-request.ts'
import { deployV2, toV2Configuration } from './v2-deployment.ts'
import { createV2Pipelines, createV2Sources, toStreamId, toV2Models, toV2Pipeline } from './v2-resources.ts'

/** The operations of v2. */
export function createV2Operations(context: ApiContext): Operation[] {
  const { activation, configuration, runtime } = context
  return [
    ...createSharedOperations(context),
    operation(routesV2.activate, async ({ body, query }) => ({
      value: await activation.activate(body, query.force),
    })),
    operation(routesV2.getActivation, () => ({ value: activation.get() })),
    operation(routesV2.deploy, input => {
      activation.assertActivated()
      return deployV2(configuration, input, createElementExpander(context.catalog))
    }),
    operation(routesV2.pipelineStatistics, ({ params: { id } }) => {
      configuration.pipelines.get(id)
      return { value: runtime.pipelineStatistics(id) }
    }),
  ]
}

/** The operations that v1 and v2 share. */
export function createSharedOperations(context: ApiContext): Operation[] {
  const { catalog, configuration, meter } = context
  return [
    operation(routes.getConfiguration, () => toV2Configuration(configuration.get())),
    ...createResourceOperations(routes.source, createV2Sources(configuration.sources)),
    ...createResourceOperations(routes.sink, configuration.sinks),
    ...createResourceOperations(
      routes.pipeline,
      createV2Pipelines(configuration.pipelines, createElementExpander(catalog)),
    ),
    operation(routes.pipelineElements, () => ({
      value: {
        elements: catalog.elements().map(({ name, params_schema, passthrough }) => ({
          name,
          paramsSchema: params_schema,
          passthrough,
        })),
        models: toV2Models(catalog.models('devices')),
      },
    })),
    operation(routes.listElements, ({ query: { type } }) => {
      const elements = catalog.elements().map(({ name }): CatalogEntryV2 => ({ type: 'element', name }))
      const models = toV2Models(catalog.models('devices')).map(
        (model): CatalogEntryV2 => ({ type: 'model', ...model }),
      )
      return { value: [...elements, ...models].filter(part => includesPart(type, part.type)) }
    }),
    ...createConnectionOperations(routes, configuration, toV2Pipeline),
    operation(routes.getExports, ({ query: { filter } }) => ({
      value: {
        ...(includesPart(filter, 'streams') && { streams: listStreams(context) }),
        ...(includesPart(filter, 'channels') && {
          channels: listChannels(context).map(({ stream, ...channel }) => ({
            ...channel,
            stream: toStreamId(stream),
          })),
        }),
      },
    })),
    operation(routes.channelStatic, async ({ params, query }) => ({
      value: await readStaticMetadata(context, params.id, query.format),
    })),
    operation(routes.channelProperties, async ({ query: { ids, props, format } }) => {
      const properties = await readChannelProperties(context, ids, props, format)
      const entries = Object.entries(properties).map(([id, { stream, ...rest }]) => [
        id,
        stream === undefined ? rest : { ...rest, stream: toStreamId(stream) },
      ])
      return { value: Object.fromEntries(entries) }
    }),
    operation(routes.systemStatistics, async () => ({ value: await meter.read() })),
    operation(routes.about, () => ({ value: describeEngine(context) })),
  ]
}
