import { routesV3 as routes } from '@eyrie/contract/routes-v3'
import { aboutEngine } from '../operations/about.ts'
import type { ApiContext } from '../operations/api-context.ts'
import {
  channelProperties,
  issueTicket,
  listChannels,
  listStreams,
  staticMetadata,
} from '../operations/channel-exports.ts'
import { connectionOperations } from '../operations/connection-operations.ts'
import { resourceOperations } from '../operations/resource-operations.ts'
import { type Operation, operation } from '../routing/operation.ts'
import { asks } from '../routing/read-request.ts'

/** The operations of v3. */
export function createV3Operations(context: ApiContext): Operation[] {
  const { activation, catalog, configuration, runtime, meter, output } = context
  const { sources, sinks, pipelines } = configuration
  const modelsFor = (filter: ('devices' | 'none')[]) =>
    catalog.models(filter.includes('none') ? 'none' : 'devices')

  return [
    operation(routes.activate, async ({ body, query }) => ({
      value: await activation.activate(body, query.force),
    })),
    operation(routes.getActivation, () => ({ value: activation.get() })),
    operation(routes.getCatalog, ({ query: { filter, 'filter-models': filterModels } }) => ({
      value: {
        ...(asks(filter, 'elements') && { elements: catalog.elements() }),
        ...(asks(filter, 'models') && { models: modelsFor(filterModels) }),
        ...(asks(filter, 'devices') && { devices: catalog.devices() }),
      },
    })),
    operation(routes.getModels, ({ query }) => ({ value: { models: modelsFor(query.filter) } })),
    operation(routes.getConfiguration, () => configuration.get()),
    operation(routes.deploy, ({ body, query, ifMatch }) => {
      activation.requireActivated()
      return configuration.deploy(body, ifMatch, query.override)
    }),
    ...resourceOperations(routes.source, sources),
    ...resourceOperations(routes.sink, sinks),
    ...resourceOperations(routes.pipeline, pipelines),
    operation(routes.pipelineElements, ({ query: { filter } }) => ({
      value: {
        ...(asks(filter, 'elements') && { elements: catalog.elements() }),
        ...(asks(filter, 'models') && { models: catalog.models('devices') }),
      },
    })),
    operation(routes.pipelineStatistics, ({ params: { id } }) => {
      pipelines.get(id)
      return { value: runtime.pipelineStatistics(id) }
    }),
    ...connectionOperations(routes, configuration, pipeline => pipeline),
    operation(routes.getExports, ({ query: { filter } }) => ({
      value: {
        ...(asks(filter, 'streams') && { streams: listStreams(context) }),
        ...(asks(filter, 'channels') && { channels: listChannels(context) }),
      },
    })),
    operation(routes.streamTicket, ({ params: { id } }) => ({ value: issueTicket(context, id) })),
    operation(routes.channelStatic, async ({ params, query }) => ({
      value: await staticMetadata(context, params.id, query.format),
    })),
    operation(routes.channelProperties, async ({ query: { ids, props, format } }) => ({
      value: await channelProperties(context, ids, props, format),
    })),
    ...pluginOperations(context),
    operation(routes.camera.test, async ({ body }) => ({ value: await context.cameras.test(body) })),
    operation(routes.camera.discover, async ({ query }) => ({
      value: await context.cameras.discover(query.host),
    })),
    operation(routes.consumer.list, () => ({ value: output.listConsumers() })),
    operation(routes.consumer.remove, async ({ params: { name } }) => {
      await output.removeConsumer(name)
      return {}
    }),
    operation(routes.systemStatistics, async () => ({ value: await meter.read() })),
    operation(routes.about, () => ({ value: aboutEngine(context) })),
  ]
}

function pluginOperations({ plugins }: Pick<ApiContext, 'plugins'>): Operation[] {
  return [
    operation(routes.plugin.list, plugins.list),
    operation(routes.plugin.get, ({ params }) => plugins.get(params.name)),
    operation(routes.plugin.upload, ({ body, ifMatch }) => plugins.upload(body, ifMatch)),
    operation(routes.plugin.use, ({ params, body, ifMatch }) =>
      plugins.use(params.name, body.version, ifMatch),
    ),
    operation(routes.plugin.remove, async ({ params, ifMatch }) => {
      await plugins.remove(params.name, params.version, ifMatch)
      return {}
    }),
  ]
}
