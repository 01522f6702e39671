import { z } from 'zod'
import { activation, license } from './activation.ts'
import { address } from './address.ts'
import { cameraReport, discoveredCamera, discoveryQuery } from './camera.ts'
import { overrideQuery } from './capacity.ts'
import { catalog, catalogElement, catalogModel } from './catalog.ts'
import { engineCondition } from './condition.ts'
import { configuration, deployment } from './configuration.ts'
import {
  connectionRoutes,
  crudRoutes,
  forceQuery,
  idParams,
  type Route,
  type Routes,
  withCapacityChecks,
} from './engine-route.ts'
import {
  channelProperties,
  channelProperty,
  exportsBody,
  staticFormat,
  streamTicket,
} from './exports.ts'
import { modelRoutes } from './model-routes.ts'
import { consumer } from './output-connection.ts'
import { idParameter, listParameter } from './parameters.ts'
import { pipeline, pipelineInput, pipelinePatch, pipelineStatistics } from './pipeline.ts'
import { pluginRoutes } from './plugin-routes.ts'
import { sink, sinkInput, sinkPatch } from './sink.ts'
import { source, sourceInput, sourcePatch } from './source.ts'
import { about, systemStatistics } from './statistics.ts'

export type { Route }

/** `devices`: models that can run on a device of this machine; `none`: all models. */
const modelFilter = listParameter(z.enum(['devices', 'none'])).default(['devices'])

/**
 * v3 of the engine's API, under `/api/v3`. The server, its OpenAPI document and the client are
 * derived from these routes. The routes of a kind of resource are grouped, as in
 * `routesV3.plugin.upload`.
 */
export const routesV3 = {
  activate: {
    method: 'post',
    path: '/activation',
    summary: 'Activate the engine with a license',
    query: forceQuery,
    body: license,
    status: 200,
    response: activation,
    errors: ['syntax', 'license', 'activation'],
  },

  getActivation: {
    method: 'get',
    path: '/activation',
    summary: 'Get the activation status',
    status: 200,
    response: activation,
    errors: [],
  },

  getCatalog: {
    method: 'get',
    path: '/catalog',
    summary: 'Get the catalog of elements, models and devices',
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
    summary: 'List models',
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
    summary: 'Replace the complete configuration',
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
    summary: 'Get the status and statistics of a pipeline',
    params: idParams,
    status: 200,
    response: pipelineStatistics,
    errors: ['id'],
  },

  pipelineElements: {
    method: 'get',
    path: '/pipelines/elements',
    summary: 'List the elements and models that pipelines can use',
    query: z.object({ filter: listParameter(z.enum(['elements', 'models'])).optional() }),
    status: 200,
    response: z
      .strictObject({ elements: z.array(catalogElement), models: z.array(catalogModel) })
      .partial(),
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
    summary: 'Create a ticket that grants access to a stream',
    params: idParams,
    status: 200,
    response: streamTicket,
    errors: ['id', 'unavailable'],
  },

  channelStatic: {
    method: 'get',
    path: '/exports/channels/{id}/static',
    summary: 'Get the static metadata of a channel',
    params: idParams,
    query: z.object({ format: staticFormat.default('pass') }),
    status: 200,
    response: z.unknown(),
    errors: ['id', 'syntax'],
  },

  channelProperties: {
    method: 'get',
    path: '/exports/channels/properties',
    summary: 'Get channel properties',
    query: z.object({
      ids: listParameter(idParameter).optional(),
      props: listParameter(channelProperty).optional(),
      format: staticFormat.default('pass'),
    }),
    status: 200,
    response: z.record(z.string(), channelProperties),
    errors: ['id', 'syntax'],
  },

  ...modelRoutes,

  ...pluginRoutes,

  camera: {
    test: {
      method: 'post',
      path: '/cameras/test',
      summary: 'Test the connection to a camera and describe its stream',
      body: address,
      status: 200,
      response: cameraReport,
      errors: ['syntax', 'camera', 'unavailable'],
    },

    discover: {
      method: 'get',
      path: '/cameras/discover',
      summary: 'Discover ONVIF devices on the local network or on one host',
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
      summary: 'List output consumers',
      status: 200,
      response: z.array(consumer),
      errors: [],
    },

    remove: {
      method: 'delete',
      path: '/consumers/{name}',
      summary: 'Delete a disconnected output consumer and the messages retained for it',
      params: z.object({ name: z.string() }),
      status: 204,
      response: null,
      errors: ['id', 'reference'],
    },
  },

  systemStatistics: {
    method: 'get',
    path: '/statistics',
    summary: 'Get the CPU and memory usage',
    status: 200,
    response: systemStatistics,
    errors: [],
  },

  engineCondition: {
    method: 'get',
    path: '/condition',
    summary: 'Get the condition of the engine and its sources',
    status: 200,
    response: engineCondition,
    errors: [],
  },

  about: {
    method: 'get',
    path: '/about',
    summary: 'Get the versions of the engine',
    status: 200,
    response: about,
    errors: [],
  },
} as const satisfies Routes
