import type { CatalogEntryV2 } from '@eyrie/contract'
import { routesV1AndV2 as routes, routesV2 } from '@eyrie/contract/routes-v2'
import { aboutEngine } from '../about.ts'
import { connectionOperations } from '../connections.ts'
import type { Core } from '../core.ts'
import { channelProperties, listChannels, listStreams, staticMetadata } from '../exports.ts'
import { type Operation, operation } from '../operation.ts'
import { asks } from '../request.ts'
import { resourceOperations } from '../resources.ts'
import { longFormsBy } from '../short-form.ts'
import { deployEarlier, showConfiguration } from './deploy.ts'
import { earlierPipelines, earlierSources } from './resources.ts'
import { showModels, showPipeline, streamId } from './translate.ts'

/** Every operation of revision B. */
export function operationsB(core: Core): Operation[] {
  const { activation, configuration, runtime } = core
  return [
    ...earlierOperations(core),
    operation(routesV2.activate, async ({ body, query }) => ({
      value: await activation.activate(body, query.force),
    })),
    operation(routesV2.getActivation, () => ({ value: activation.get() })),
    operation(routesV2.deploy, input => {
      activation.requireActivated()
      return deployEarlier(configuration, input, longFormsBy(core.catalog))
    }),
    operation(routesV2.pipelineStatistics, ({ params: { id } }) => {
      configuration.pipelines.get(id)
      return { value: runtime.pipelineStatistics(id) }
    }),
  ]
}

/** What revisions A and B do alike. */
export function earlierOperations(core: Core): Operation[] {
  const { catalog, configuration, meter } = core
  return [
    operation(routes.getConfiguration, () => showConfiguration(configuration.get())),
    ...resourceOperations(routes.source, earlierSources(configuration.sources)),
    ...resourceOperations(routes.sink, configuration.sinks),
    ...resourceOperations(
      routes.pipeline,
      earlierPipelines(configuration.pipelines, longFormsBy(core.catalog)),
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
        ...(asks(filter, 'streams') && { streams: listStreams(core) }),
        ...(asks(filter, 'channels') && {
          channels: listChannels(core).map(channel => ({ ...channel, stream: streamId(channel.stream) })),
        }),
      },
    })),
    operation(routes.channelStatic, async ({ params, query }) => ({
      value: await staticMetadata(core, params.id, query.format),
    })),
    operation(routes.channelProperties, async ({ query: { ids, props, format } }) => ({
      value: Object.fromEntries(
        Object.entries(await channelProperties(core, ids, props, format)).map(([id, { stream, ...rest }]) => [
          id,
          stream === undefined ? rest : { ...rest, stream: streamId(stream) },
        ]),
      ),
    })),
    operation(routes.systemStatistics, async () => ({ value: await meter.read() })),
    operation(routes.about, () => ({ value: aboutEngine(core) })),
  ]
}
