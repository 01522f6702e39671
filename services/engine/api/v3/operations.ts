import { hostname } from 'node:os'
import { routesC as routes } from '@eyrie/contract/routes'
import type { Core } from '../core.ts'
import { channelProperties, listChannels, listStreams, staticMetadata } from '../exports.ts'
import { type Operation, operation } from '../operation.ts'
import { resourceOperations } from './resources.ts'

/** Every operation of revision C. */
export function operationsC(core: Core): Operation[] {
  const { activation, catalog, configuration, runtime, meter } = core
  const { sources, sinks, pipelines } = configuration
  const modelsFor = (filter: ('devices' | 'none')[]) =>
    catalog.models(filter.includes('none') ? 'none' : 'devices')
  const has = <Part extends string>(filter: Part[] | undefined, part: Part) =>
    !filter || filter.includes(part)

  return [
    operation(routes.activate, async ({ body, query }) => ({
      value: await activation.activate(body, query.force),
    })),
    operation(routes.getActivation, () => ({ value: activation.get() })),
    operation(routes.getCatalog, ({ query: { filter, 'filter-models': filterModels } }) => ({
      value: {
        ...(has(filter, 'elements') && { elements: catalog.elements() }),
        ...(has(filter, 'models') && { models: modelsFor(filterModels) }),
        ...(has(filter, 'devices') && { devices: catalog.devices() }),
      },
    })),
    operation(routes.getModels, ({ query }) => ({ value: { models: modelsFor(query.filter) } })),
    operation(routes.getConfiguration, () => configuration.get()),
    operation(routes.deploy, ({ body, ifMatch }) => {
      activation.requireActivated()
      return configuration.deploy(body, ifMatch)
    }),
    ...resourceOperations(routes.source, sources),
    ...resourceOperations(routes.sink, sinks),
    ...resourceOperations(routes.pipeline, pipelines),
    operation(routes.pipelineElements, ({ query: { filter } }) => ({
      value: {
        ...(has(filter, 'elements') && { elements: catalog.elements() }),
        ...(has(filter, 'models') && { models: catalog.models('devices') }),
      },
    })),
    operation(routes.pipelineStatistics, ({ params: { id } }) => {
      pipelines.get(id)
      return { value: runtime.pipelineStatistics(id) }
    }),
    operation(routes.connectSources, ({ params, body, ifMatch }) =>
      configuration.connect(params.id, 'sources', body, ifMatch),
    ),
    operation(routes.disconnectSources, ({ params, body, ifMatch }) =>
      configuration.disconnect(params.id, 'sources', body, ifMatch),
    ),
    operation(routes.connectSinks, ({ params, body, ifMatch }) =>
      configuration.connect(params.id, 'sinks', body, ifMatch),
    ),
    operation(routes.disconnectSinks, ({ params, body, ifMatch }) =>
      configuration.disconnect(params.id, 'sinks', body, ifMatch),
    ),
    operation(routes.getExports, ({ query: { filter } }) => ({
      value: {
        ...(has(filter, 'streams') && { streams: listStreams(core) }),
        ...(has(filter, 'channels') && { channels: listChannels(core) }),
      },
    })),
    operation(routes.channelStatic, ({ params, query }) => ({
      value: staticMetadata(core, params.id, query.format),
    })),
    operation(routes.channelProperties, ({ query: { ids, props, format } }) => ({
      value: channelProperties(core, ids, props, format),
    })),
    operation(routes.systemStatistics, async () => ({ value: await meter.read() })),
    operation(routes.about, () => ({
      value: {
        name: 'Eyrie',
        version: core.version,
        api_versions: ['v3'],
        node: process.version,
        gstreamer: runtime.streamServer()?.gstreamer ?? 'unknown: media is not connected',
        hostname: hostname(),
      },
    })),
  ]
}
