import { routesV3 as routes } from '@eyrie/contract/routes-v3'
import type { ApiContext } from '../operations/api-context.ts'
import {
  issueTicket,
  listChannels,
  listStreams,
  readChannelProperties,
  readStaticMetadata,
} from '../operations/channel-exports.ts'
import { createConnectionOperations } from '../operations/connection-operations.ts'
import { describeEngine, readCondition } from '../operations/engine-status.ts'
import { createResourceOperations } from '../operations/resource-operations.ts'
import { selectParts } from '../operations/select-parts.ts'
import { type Operation, operation, valueOperation } from '../routing/operation.ts'

/**
 * Creates the operations of v3, the current revision of the API: binds its routes to the
 * components of the engine.
 */
export function createV3Operations(context: ApiContext): Operation[] {
  return [
    ...createActivationOperations(context),
    ...createCatalogOperations(context),
    ...createConfigurationOperations(context),
    ...createPipelineOperations(context),
    ...createExportOperations(context),
    ...createModelOperations(context),
    ...createPluginOperations(context),
    ...createPluginTrustOperations(context),
    ...createCameraOperations(context),
    ...createConsumerOperations(context),
    ...createSystemOperations(context),
  ]
}

function createActivationOperations({ activation }: ApiContext): Operation[] {
  return [
    valueOperation(routes.activate, ({ body, query }) => activation.activate(body, query)),
    valueOperation(routes.getActivation, () => activation.get()),
  ]
}

function createCatalogOperations({ catalog }: ApiContext): Operation[] {
  const listModels = (filter: ('devices' | 'none')[]) =>
    catalog.models(filter.includes('none') ? 'none' : 'devices')

  return [
    valueOperation(routes.getCatalog, ({ query: { filter, 'filter-models': modelFilter } }) =>
      selectParts(filter, {
        elements: () => catalog.elements(),
        models: () => listModels(modelFilter),
        devices: () => catalog.devices(),
      }),
    ),
    valueOperation(routes.getModels, ({ query: { filter } }) => ({ models: listModels(filter) })),
  ]
}

function createConfigurationOperations({ activation, configuration }: ApiContext): Operation[] {
  return [
    operation(routes.getConfiguration, () => configuration.get()),
    operation(routes.deploy, ({ body, query, ifMatch }) => {
      activation.assertActivated()
      return configuration.deploy(body, { ifMatch, override: query.override })
    }),
    ...createResourceOperations(routes.source, configuration.sources),
    ...createResourceOperations(routes.sink, configuration.sinks),
  ]
}

function createPipelineOperations({ catalog, configuration, runtime }: ApiContext): Operation[] {
  const { pipelines } = configuration
  return [
    ...createResourceOperations(routes.pipeline, pipelines),
    valueOperation(routes.pipelineElements, ({ query: { filter } }) =>
      selectParts(filter, {
        elements: () => catalog.elements(),
        models: () => catalog.models('devices'),
      }),
    ),
    valueOperation(routes.pipelineStatistics, ({ params: { id } }) => {
      // Throws if the pipeline is unknown.
      pipelines.get(id)
      return runtime.pipelineStatistics(id)
    }),
    ...createConnectionOperations(routes, configuration, pipeline => pipeline),
  ]
}

/** Exports are the results that other systems read: streams, and channels with their properties. */
function createExportOperations(context: ApiContext): Operation[] {
  return [
    valueOperation(routes.getExports, ({ query: { filter } }) =>
      selectParts(filter, {
        streams: () => listStreams(context),
        channels: () => listChannels(context),
      }),
    ),
    valueOperation(routes.streamTicket, ({ params: { id } }) => issueTicket(context, id)),
    valueOperation(routes.channelStatic, ({ params: { id }, query: { format } }) =>
      readStaticMetadata(context, id, format),
    ),
    valueOperation(routes.channelProperties, ({ query }) => readChannelProperties(context, query)),
  ]
}

function createModelOperations({ models }: ApiContext): Operation[] {
  const { model } = routes
  return [
    valueOperation(model.list, () => models.list()),
    valueOperation(model.get, ({ params: { name } }) => models.get(name)),
    valueOperation(model.use, ({ params: { name }, query, body, client }) =>
      models.use(name, body, { client, ...query }),
    ),
    valueOperation(model.switches, ({ params: { name } }) => models.listSwitches(name)),
    valueOperation(model.startShadow, ({ params: { name }, body }) =>
      models.startShadow(name, body),
    ),
    valueOperation(model.getShadow, ({ params: { name } }) => models.getShadow(name)),
    valueOperation(model.endShadow, ({ params: { name } }) => models.endShadow(name)),
    valueOperation(model.acceptShadow, ({ params: { name }, query, body, client }) =>
      models.acceptShadow(name, body, { client, ...query }),
    ),
  ]
}

function createPluginOperations({ plugins }: ApiContext): Operation[] {
  return [
    operation(routes.plugin.list, plugins.list),
    operation(routes.plugin.get, ({ params: { name } }) => plugins.get(name)),
    valueOperation(routes.plugin.inspect, ({ body }) => plugins.inspect(body)),
    valueOperation(routes.plugin.grants, ({ params: { name } }) => plugins.listGrants(name)),
    operation(routes.plugin.upload, ({ body, query, client, ifMatch }) =>
      plugins.upload(body, { client, ifMatch, acceptsNewPublisher: query['new-publisher'] }),
    ),
    operation(routes.plugin.use, ({ params: { name }, body, client, ifMatch }) =>
      plugins.use(name, body, client, ifMatch),
    ),
    valueOperation(routes.plugin.switches, ({ params: { name } }) => plugins.listSwitches(name)),
    valueOperation(routes.plugin.startShadow, ({ params: { name }, body, client }) =>
      plugins.startShadow(name, body, client),
    ),
    valueOperation(routes.plugin.getShadow, ({ params: { name } }) => plugins.getShadow(name)),
    valueOperation(routes.plugin.endShadow, ({ params: { name } }) => plugins.endShadow(name)),
    operation(routes.plugin.acceptShadow, ({ params: { name }, body, client }) =>
      plugins.acceptShadow(name, body, client),
    ),
    operation(routes.plugin.release, ({ params: { name }, ifMatch }) =>
      plugins.release(name, ifMatch),
    ),
    operation(routes.plugin.remove, async ({ params: { name, version }, ifMatch }) => {
      await plugins.remove(name, version, ifMatch)
      return {}
    }),
  ]
}

function createPluginTrustOperations({ pluginTrust }: ApiContext): Operation[] {
  return [
    operation(routes.pluginTrust.get, pluginTrust.get),
    operation(
      routes.pluginTrust.setPublisher,
      ({ params: { key }, query: { force }, body, ifMatch }) =>
        pluginTrust.setPublisher(key, body, { force, ifMatch }),
    ),
    operation(routes.pluginTrust.removePublisher, ({ params: { key }, ifMatch }) =>
      pluginTrust.removePublisher(key, ifMatch),
    ),
    operation(routes.pluginTrust.addException, ({ params: { name }, ifMatch }) =>
      pluginTrust.addException(name, ifMatch),
    ),
    operation(routes.pluginTrust.removeException, ({ params: { name }, ifMatch }) =>
      pluginTrust.removeException(name, ifMatch),
    ),
  ]
}

function createCameraOperations({ cameras }: ApiContext): Operation[] {
  return [
    valueOperation(routes.camera.test, ({ body }) => cameras.test(body)),
    valueOperation(routes.camera.discover, ({ query: { host } }) => cameras.discover(host)),
  ]
}

function createConsumerOperations({ output }: ApiContext): Operation[] {
  return [
    valueOperation(routes.consumer.list, () => output.listConsumers()),
    operation(routes.consumer.remove, async ({ params: { name } }) => {
      await output.removeConsumer(name)
      return {}
    }),
  ]
}

function createSystemOperations(context: ApiContext): Operation[] {
  return [
    valueOperation(routes.systemStatistics, () => context.meter.read()),
    valueOperation(routes.engineCondition, () => readCondition(context)),
    valueOperation(routes.about, () => describeEngine(context)),
  ]
}
