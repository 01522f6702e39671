import type { CatalogEntryV2 } from '@eyrie/contract'
import { routesV1AndV2 as routes, routesV2 } from '@eyrie/contract/routes-v2'
import { aboutEngine } from '../operations/about.ts'
import type { ApiContext } from '../operations/api-context.ts'
import {
  channelProperties,
  listChannels,
  listStreams,
  staticMetadata,
} from '../operations/channel-exports.ts'
import { connectionOperations } from '../operations/connection-operations.ts'
import { resourceOperations } from '../operations/resource-operations.ts'
import { longFormsBy } from '../operations/short-form.ts'
import { type Operation, operation } from '../routing/operation.ts'
import { asks } from '../routing/read-request.ts'
import { deployEarlier, showConfiguration } from './v2-deployment.ts'
import { showModels, showPipeline, streamId } from './v2-representations.ts'
import { earlierPipelines, earlierSources } from './v2-resources.ts'

/** The operations of v2. */
export function createV2Operations(context: ApiContext): Operation[] {
  const { activation, configuration, runtime } = context
  return [
    ...earlierOperations(context),
    operation(routesV2.activate, async ({ body, query }) => ({
      value: await activation.activate(body, query.force),
    })),
    operation(routesV2.getActivation, () => ({ value: activation.get() })),
    operation(routesV2.deploy, input => {
      activation.requireActivated()
      return deployEarlier(configuration, input, longFormsBy(context.catalog))
    }),
    operation(routesV2.pipelineStatistics, ({ params: { id } }) => {
      configuration.pipelines.get(id)
      return { value: runtime.pipelineStatistics(id) }
    }),
  ]
}

/** The operations that v1 and v2 share. */
export function earlierOperations(context: ApiContext): Operation[] {
  const { catalog, configuration, meter } = context
  return [
    operation(routes.getConfiguration, () => showConfiguration(configuration.get())),
    ...resourceOperations(routes.source, earlierSources(configuration.sources)),
    ...resourceOperations(routes.sink, configuration.sinks),
    ...resourceOperations(
      routes.pipeline,
      earlierPipelines(configuration.pipelines, longFormsBy(context.catalog)),
    ),
    operation(routes.pipelineElements, () => ({
      value: {
        elements: catalog.elements().map(({ name, params_schema, passthrough }) => ({
          name,
          paramsSchema: params_schema,
          passthrough,
        })),
        models: showModels(catalog.models('devices')),
      },
    })),
    operation(routes.listElements, ({ query: { type } }) => {
      const elements = catalog.elements().map(({ name }): CatalogEntryV2 => ({ type: 'element', name }))
      const models = showModels(catalog.models('devices')).map(
        (model): CatalogEntryV2 => ({ type: 'model', ...model }),
      )
      return { value: [...elements, ...models].filter(part => asks(type, part.type)) }
    }),
    ...connectionOperations(routes, configuration, showPipeline),
    operation(routes.getExports, ({ query: { filter } }) => ({
      value: {
        ...(asks(filter, 'streams') && { streams: listStreams(context) }),
        ...(asks(filter, 'channels') && {
          channels: listChannels(context).map(channel => ({ ...channel, stream: streamId(channel.stream) })),
        }),
      },
    })),
    operation(routes.channelStatic, async ({ params, query }) => ({
      value: await staticMetadata(context, params.id, query.format),
    })),
    operation(routes.channelProperties, async ({ query: { ids, props, format } }) => ({
      value: Object.fromEntries(
        Object.entries(await channelProperties(context, ids, props, format)).map(
          ([id, { stream, ...rest }]) => [
            id,
            stream === undefined ? rest : { ...rest, stream: streamId(stream) },
          ],
        ),
      ),
    })),
    operation(routes.systemStatistics, async () => ({ value: await meter.read() })),
    operation(routes.about, () => ({ value: aboutEngine(context) })),
  ]
}
