import { z } from 'zod'
import { activation, license } from './activation.ts'
import { address } from './address.ts'
import { cameraReport, discoveredCamera, discoveryQuery } from './camera.ts'
import { overrideQuery, withCapacityChecks } from './capacity.ts'
import { catalog, catalogElement, catalogModel } from './catalog.ts'
import { configuration, deployment } from './configuration.ts'
import {
  connectionRoutes,
  crudRoutes,
  forceQuery,
  idParams,
  type Route,
  type Routes,
} from './engine-route.ts'
import { channelProperties, channelProperty, exportsBody, staticFormat, streamTicket } from './exports.ts'
import { consumer } from './output.ts'
import { idParameter, listParameter } from './parameters.ts'
import { pipeline, pipelineInput, pipelinePatch, pipelineStatistics } from './pipeline.ts'
import { plugin, pluginName, pluginSwitch, pluginVersion } from './plugin.ts'
import { sink, sinkInput, sinkPatch } from './sink.ts'
import { source, sourceInput, sourcePatch } from './source.ts'
import { about, systemStatistics } from './statistics.ts'

export type { Route }

const modelFilter = listParameter(z.enum(['devices', 'none'])).default(['devices'])

const byName = z.object({ name: pluginName })

/** A file in the body. */
const binary = z.instanceof(Uint8Array).meta({ type: 'string', format: 'binary' })

/** Revision C of the engine's API, under `/api/v3`. */
export const routesV3 = {
  activate: {
    method: 'post',
    path: '/activation',
    summary: 'Activate a license',
    query: forceQuery,
    body: license,
    status: 200,
    response: activation,
    errors: ['syntax', 'license', 'activation'],
  },
  getActivation: {
    method: 'get',
    path: '/activation',
    summary: 'Get the activation',
    status: 200,
    response: activation,
    errors: [],
  },
  getCatalog: {
    method: 'get',
    path: '/catalog',
    summary: 'Get elements, models and devices',
    query: z.object({
      filter: listParameter(z.enum(['elements', 'models', 'devices'])).optional(),
      'filter-models': modelFilter,
    }),
    status: 200,
    response: catalog,
    errors: ['syntax'],
  },
  getModels: {
    method: 'get',
    path: '/catalog/models',
    summary: 'Get models',
    query: z.object({ filter: modelFilter }),
    status: 200,
    response: z.strictObject({ models: z.array(catalogModel) }),
    errors: ['syntax'],
  },
  getConfiguration: {
    method: 'get',
    path: '/configuration',
    summary: 'Get the configuration',
    status: 200,
    response: configuration,
    errors: [],
  },
  deploy: {
    method: 'post',
    path: '/configuration',
    summary: 'Replace the whole configuration',
    query: overrideQuery,
    body: deployment,
    status: 200,
    response: configuration,
    errors: ['syntax', 'activation', 'capacity', 'precondition'],
  },
  source: withCapacityChecks(crudRoutes('source', source, sourceInput, sourcePatch)),
  sink: crudRoutes('sink', sink, sinkInput, sinkPatch),
  pipeline: withCapacityChecks(crudRoutes('pipeline', pipeline, pipelineInput, pipelinePatch)),
  pipelineStatistics: {
    method: 'get',
    path: '/pipelines/{id}/statistics',
    summary: 'Get how a pipeline is doing',
    params: idParams,
    status: 200,
    response: pipelineStatistics,
    errors: ['id'],
  },
  pipelineElements: {
    method: 'get',
    path: '/pipelines/elements',
    summary: 'List what pipelines can be made of',
    query: z.object({ filter: listParameter(z.enum(['elements', 'models'])).optional() }),
    status: 200,
    response: z.strictObject({ elements: z.array(catalogElement), models: z.array(catalogModel) }).partial(),
    errors: ['syntax'],
  },
  ...connectionRoutes(pipeline),
  getExports: {
    method: 'get',
    path: '/exports',
    summary: 'List channels and streams',
    query: z.object({ filter: listParameter(z.enum(['streams', 'channels'])).optional() }),
    status: 200,
    response: exportsBody,
    errors: ['syntax'],
  },
  streamTicket: {
    method: 'post',
    path: '/exports/streams/{id}/ticket',
    summary: 'Get a ticket that shows a stream to whoever has it',
    params: idParams,
    status: 200,
    response: streamTicket,
    errors: ['id', 'unavailable'],
  },
  channelStatic: {
    method: 'get',
    path: '/exports/channels/{id}/static',
    summary: "Get a channel's static metadata",
    params: idParams,
    query: z.object({ format: staticFormat.default('pass') }),
    status: 200,
    response: z.unknown(),
    errors: ['id', 'syntax'],
  },
  channelProperties: {
    method: 'get',
    path: '/exports/channels/properties',
    summary: 'Get properties of channels',
    query: z.object({
      ids: listParameter(idParameter).optional(),
      props: listParameter(channelProperty).optional(),
      format: staticFormat.default('pass'),
    }),
    status: 200,
    response: z.record(z.string(), channelProperties),
    errors: ['id', 'syntax'],
  },
  plugin: {
    list: {
      method: 'get',
      path: '/plugins',
      summary: 'List plugins with their versions',
      status: 200,
      response: z.array(plugin),
      errors: [],
    },
    get: {
      method: 'get',
      path: '/plugins/{name}',
      summary: 'Get a plugin',
      params: byName,
      status: 200,
      response: plugin,
      errors: ['id'],
    },
    upload: {
      method: 'post',
      path: '/plugins',
      summary: 'Add a version of a plugin, as a package',
      body: binary,
      contentType: 'application/gzip',
      status: 201,
      unchangedStatus: 200,
      response: plugin,
      errors: ['syntax', 'conflict', 'precondition'],
    },
    use: {
      method: 'put',
      path: '/plugins/{name}',
      summary: 'Switch to another version of a plugin, or back',
      params: byName,
      body: pluginSwitch,
      status: 200,
      response: plugin,
      errors: ['syntax', 'id', 'reference', 'conflict', 'precondition'],
    },
    remove: {
      method: 'delete',
      path: '/plugins/{name}/{version}',
      summary: 'Delete an uploaded version of a plugin',
      params: byName.extend({ version: pluginVersion }),
      status: 204,
      response: null,
      errors: ['id', 'reference', 'conflict', 'precondition'],
    },
  },
  camera: {
    test: {
      method: 'post',
      path: '/cameras/test',
      summary: 'Test a camera: what it is and sends, with a picture, or what is wrong',
      body: address,
      status: 200,
      response: cameraReport,
      errors: ['syntax', 'camera', 'unavailable'],
    },
    discover: {
      method: 'get',
      path: '/cameras/discover',
      summary: 'Find ONVIF devices near, or ask one host',
      query: discoveryQuery,
      status: 200,
      response: z.array(discoveredCamera),
      errors: ['syntax', 'unavailable'],
    },
  },
  consumer: {
    list: {
      method: 'get',
      path: '/consumers',
      summary: 'List the consumers of the output',
      status: 200,
      response: z.array(consumer),
      errors: [],
    },
    remove: {
      method: 'delete',
      path: '/consumers/{name}',
      summary: 'Forget a consumer of the output that is not connected, and what was kept for it',
      params: z.object({ name: z.string() }),
      status: 204,
      response: null,
      errors: ['id', 'reference'],
    },
  },
  systemStatistics: {
    method: 'get',
    path: '/statistics',
    summary: 'Get CPU and memory load',
    status: 200,
    response: systemStatistics,
    errors: [],
  },
  about: {
    method: 'get',
    path: '/about',
    summary: 'Get what this engine is',
    status: 200,
    response: about,
    errors: [],
  },
} as const satisfies Routes
