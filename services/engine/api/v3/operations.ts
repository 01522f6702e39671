import { routesV3 as routes } from '@eyrie/contract/routes-v3'
import { aboutEngine } from '../about.ts'
import { connectionOperations } from '../connections.ts'
import type { Core } from '../core.ts'
import { channelProperties, issueTicket, listChannels, listStreams, staticMetadata } from '../exports.ts'
import { type Operation, operation } from '../operation.ts'
import { asks } from '../request.ts'
import { resourceOperations } from '../resources.ts'
import { pluginOperations } from './plugins.ts'

/** Every operation of revision C. */
export function operationsC(core: Core): Operation[] {
  const { activation, catalog, configuration, runtime, meter, output } = core
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
        ...(asks(filter, 'streams') && { streams: listStreams(core) }),
        ...(asks(filter, 'channels') && { channels: listChannels(core) }),
      },
    })),
    operation(routes.streamTicket, ({ params: { id } }) => ({ value: issueTicket(core, id) })),
    operation(routes.channelStatic, async ({ params, query }) => ({
      value: await staticMetadata(core, params.id, query.format),
    })),
    operation(routes.channelProperties, async ({ query: { ids, props, format } }) => ({
      value: await channelProperties(core, ids, props, format),
    })),
    ...pluginOperations(core),
    operation(routes.camera.test, async ({ body }) => ({ value: await core.cameras.test(body) })),
    operation(routes.camera.discover, async ({ query }) => ({
      value: await core.cameras.discover(query.host),
    })),
    operation(routes.consumer.list, () => ({ value: output.consumers() })),
    operation(routes.consumer.remove, async ({ params: { name } }) => {
      await output.forget(name)
      return {}
    }),
    operation(routes.systemStatistics, async () => ({ value: await meter.read() })),
    operation(routes.about, () => ({ value: aboutEngine(core) })),
  ]
}
