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
import { type Operation, operation } from '../routing/operation.ts'

/** Creates the operations of v3, the current revision of the API: binds its routes to the components of the engine. */
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
    operation(routes.activate, async ({ body, query }) => ({
      value: await activation.activate(body, query.force),
    })),
    operation(routes.getActivation, () => ({ value: activation.get() })),
  ]
}

function createCatalogOperations({ catalog }: ApiContext): Operation[] {
  const listModels = (filter: ('devices' | 'none')[]) =>
    catalog.models(filter.includes('none') ? 'none' : 'devices')

  return [
    operation(routes.getCatalog, ({ query: { filter, 'filter-models': modelFilter } }) => ({
      value: selectParts(filter, {
        elements: () => catalog.elements(),
        models: () => listModels(modelFilter),
        devices: () => catalog.devices(),
      }),
    })),
    operation(routes.getModels, ({ query: { filter } }) => ({ value: { models: listModels(filter) } })),
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
    operation(routes.pipelineElements, ({ query: { filter } }) => ({
      value: selectParts(filter, {
        elements: () => catalog.elements(),
        models: () => catalog.models('devices'),
      }),
    })),
    operation(routes.pipelineStatistics, ({ params: { id } }) => {
      pipelines.get(id)
      return { value: runtime.pipelineStatistics(id) }
    }),
    ...createConnectionOperations(routes, configuration, pipeline => pipeline),
  ]
}

/** Exports are the results that other systems read: streams, and channels with their properties. */
function createExportOperations(context: ApiContext): Operation[] {
  return [
    operation(routes.getExports, ({ query: { filter } }) => ({
      value: selectParts(filter, {
        streams: () => listStreams(context),
        channels: () => listChannels(context),
      }),
    })),
    operation(routes.streamTicket, ({ params: { id } }) => ({ value: issueTicket(context, id) })),
    operation(routes.channelStatic, async ({ params: { id }, query: { format } }) => ({
      value: await readStaticMetadata(context, id, format),
    })),
    operation(routes.channelProperties, async ({ query: { ids, props, format } }) => ({
      value: await readChannelProperties(context, ids, props, format),
    })),
  ]
}

function createModelOperations({ models }: ApiContext): Operation[] {
  const { model } = routes
  return [
    operation(model.list, () => ({ value: models.list() })),
    operation(model.get, ({ params: { name } }) => ({ value: models.get(name) })),
    operation(model.use, async ({ params: { name }, query, body, client }) => ({
      value: await models.use(name, body, { client, ...query }),
    })),
    operation(model.switches, ({ params: { name } }) => ({ value: models.listSwitches(name) })),
    operation(model.startShadow, async ({ params: { name }, body }) => ({
      value: await models.startShadow(name, body),
    })),
    operation(model.getShadow, ({ params: { name } }) => ({ value: models.getShadow(name) })),
    operation(model.endShadow, ({ params: { name } }) => ({ value: models.endShadow(name) })),
    operation(model.acceptShadow, async ({ params: { name }, query, body, client }) => ({
      value: await models.acceptShadow(name, body, { client, ...query }),
    })),
  ]
}

function createPluginOperations({ plugins }: ApiContext): Operation[] {
  return [
    operation(routes.plugin.list, plugins.list),
    operation(routes.plugin.get, ({ params: { name } }) => plugins.get(name)),
    operation(routes.plugin.inspect, async ({ body }) => ({ value: await plugins.inspect(body) })),
    operation(routes.plugin.grants, ({ params: { name } }) => ({ value: plugins.listGrants(name) })),
    operation(routes.plugin.upload, ({ body, query, client, ifMatch }) =>
      plugins.upload(body, { client, ifMatch, acceptsNewPublisher: query['new-publisher'] }),
    ),
    operation(routes.plugin.use, ({ params: { name }, body, client, ifMatch }) =>
      plugins.use(name, body, client, ifMatch),
    ),
    operation(routes.plugin.switches, ({ params: { name } }) => ({ value: plugins.listSwitches(name) })),
    operation(routes.plugin.startShadow, async ({ params: { name }, body, client }) => ({
      value: await plugins.startShadow(name, body, client),
    })),
    operation(routes.plugin.getShadow, ({ params: { name } }) => ({ value: plugins.getShadow(name) })),
    operation(routes.plugin.endShadow, ({ params: { name } }) => ({ value: plugins.endShadow(name) })),
    operation(routes.plugin.acceptShadow, ({ params: { name }, body, client }) =>
      plugins.acceptShadow(name, body, client),
    ),
    operation(routes.plugin.release, ({ params: { name }, ifMatch }) => plugins.release(name, ifMatch)),
    operation(routes.plugin.remove, async ({ params: { name, version }, ifMatch }) => {
      await plugins.remove(name, version, ifMatch)
      return {}
    }),
  ]
}

function createPluginTrustOperations({ pluginTrust }: ApiContext): Operation[] {
  return [
    operation(routes.pluginTrust.get, pluginTrust.get),
    operation(routes.pluginTrust.setPublisher, ({ params: { key }, query: { force }, body, ifMatch }) =>
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
    operation(routes.camera.test, async ({ body }) => ({ value: await cameras.test(body) })),
    operation(routes.camera.discover, async ({ query: { host } }) => ({
      value: await cameras.discover(host),
    })),
  ]
}

function createConsumerOperations({ output }: ApiContext): Operation[] {
  return [
    operation(routes.consumer.list, () => ({ value: output.listConsumers() })),
    operation(routes.consumer.remove, async ({ params: { name } }) => {
      await output.removeConsumer(name)
      return {}
    }),
  ]
}

function createSystemOperations(context: ApiContext): Operation[] {
  return [
    operation(routes.systemStatistics, async () => ({ value: await context.meter.read() })),
    operation(routes.engineCondition, async () => ({ value: await readCondition(context) })),
    operation(routes.about, () => ({ value: describeEngine(context) })),
  ]
}
