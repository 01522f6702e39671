import { z } from 'zod'
import { activation, license } from './activation.ts'
import { cameraReport, discoveryQuery, foundCamera } from './camera.ts'
import { admittedEdits, mayOverride } from './capacity.ts'
import { catalog, catalogElement, catalogModel } from './catalog.ts'
import { configuration, deployment } from './configuration.ts'
import { consumer } from './consumer.ts'
import { channelProperties, channelProperty, exportsBody, staticFormat, streamTicket } from './exports.ts'
import { pluginName, pluginVersion } from './manifest.ts'
import { pipeline, pipelineInput, pipelinePatch, pipelineStatistics } from './pipeline.ts'
import { plugin, pluginSwitch } from './plugin.ts'
import { idText, list } from './query.ts'
import { byId, connections, crud, force, type Route, type Routes } from './route.ts'
import { sink, sinkInput, sinkPatch } from './sink.ts'
import { address, source, sourceInput, sourcePatch } from './source.ts'
import { about, systemStatistics } from './statistics.ts'

export type { Route }

const modelFilter = list(z.enum(['devices', 'none'])).default(['devices'])

const byName = z.object({ name: pluginName })

/** A file in the body. */
const binary = z.instanceof(Uint8Array).meta({ type: 'string', format: 'binary' })

/** Revision C of the engine's API, under `/api/v3`. */
export const routesC = {
  activate: {
    method: 'post',
    path: '/activation',
    summary: 'Activate a license',
    query: force,
    body: license,
    status: 200,
    answer: activation,
    errors: ['syntax', 'license', 'activation'],
  },
  getActivation: {
    method: 'get',
    path: '/activation',
    summary: 'Get the activation',
    status: 200,
    answer: activation,
    errors: [],
  },
  getCatalog: {
    method: 'get',
    path: '/catalog',
    summary: 'Get elements, models and devices',
    query: z.object({
      filter: list(z.enum(['elements', 'models', 'devices'])).optional(),
      'filter-models': modelFilter,
    }),
    status: 200,
    answer: catalog,
    errors: ['syntax'],
  },
  getModels: {
    method: 'get',
    path: '/catalog/models',
    summary: 'Get models',
    query: z.object({ filter: modelFilter }),
    status: 200,
    answer: z.strictObject({ models: z.array(catalogModel) }),
    errors: ['syntax'],
  },
  getConfiguration: {
    method: 'get',
    path: '/configuration',
    summary: 'Get the configuration',
    status: 200,
    answer: configuration,
    errors: [],
  },
  deploy: {
    method: 'post',
    path: '/configuration',
    summary: 'Replace the whole configuration',
    query: mayOverride,
    body: deployment,
    status: 200,
    answer: configuration,
    errors: ['syntax', 'activation', 'capacity', 'precondition'],
  },
  source: admittedEdits(crud('source', source, sourceInput, sourcePatch)),
  sink: crud('sink', sink, sinkInput, sinkPatch),
  pipeline: admittedEdits(crud('pipeline', pipeline, pipelineInput, pipelinePatch)),
  pipelineStatistics: {
    method: 'get',
    path: '/pipelines/{id}/statistics',
    summary: 'Get how a pipeline is doing',
    params: byId,
    status: 200,
    answer: pipelineStatistics,
    errors: ['id'],
  },
  pipelineElements: {
    method: 'get',
    path: '/pipelines/elements',
    summary: 'List what pipelines can be made of',
    query: z.object({ filter: list(z.enum(['elements', 'models'])).optional() }),
    status: 200,
    answer: z.strictObject({ elements: z.array(catalogElement), models: z.array(catalogModel) }).partial(),
    errors: ['syntax'],
  },
  ...connections(pipeline),
  getExports: {
    method: 'get',
    path: '/exports',
    summary: 'List channels and streams',
    query: z.object({ filter: list(z.enum(['streams', 'channels'])).optional() }),
    status: 200,
    answer: exportsBody,
    errors: ['syntax'],
  },
  streamTicket: {
    method: 'post',
    path: '/exports/streams/{id}/ticket',
    summary: 'Get a ticket that shows a stream to whoever has it',
    params: byId,
    status: 200,
    answer: streamTicket,
    errors: ['id', 'unavailable'],
  },
  channelStatic: {
    method: 'get',
    path: '/exports/channels/{id}/static',
    summary: "Get a channel's static metadata",
    params: byId,
    query: z.object({ format: staticFormat.default('pass') }),
    status: 200,
    answer: z.unknown(),
    errors: ['id', 'syntax'],
  },
  channelProperties: {
    method: 'get',
    path: '/exports/channels/properties',
    summary: 'Get properties of channels',
    query: z.object({
      ids: list(idText).optional(),
      props: list(channelProperty).optional(),
      format: staticFormat.default('pass'),
    }),
    status: 200,
    answer: z.record(z.string(), channelProperties),
    errors: ['id', 'syntax'],
  },
  plugin: {
    list: {
      method: 'get',
      path: '/plugins',
      summary: 'List plugins with their versions',
      status: 200,
      answer: z.array(plugin),
      errors: [],
    },
    get: {
      method: 'get',
      path: '/plugins/{name}',
      summary: 'Get a plugin',
      params: byName,
      status: 200,
      answer: plugin,
      errors: ['id'],
    },
    upload: {
      method: 'post',
      path: '/plugins',
      summary: 'Add a version of a plugin, as a package',
      body: binary,
      bytes: 'application/gzip',
      status: 201,
      unchanged: 200,
      answer: plugin,
      errors: ['syntax', 'conflict', 'precondition'],
    },
    use: {
      method: 'put',
      path: '/plugins/{name}',
      summary: 'Switch to another version of a plugin, or back',
      params: byName,
      body: pluginSwitch,
      status: 200,
      answer: plugin,
      errors: ['syntax', 'id', 'reference', 'conflict', 'precondition'],
    },
    remove: {
      method: 'delete',
      path: '/plugins/{name}/{version}',
      summary: 'Delete an uploaded version of a plugin',
      params: byName.extend({ version: pluginVersion }),
      status: 204,
      answer: null,
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
      answer: cameraReport,
      errors: ['syntax', 'camera', 'unavailable'],
    },
    discover: {
      method: 'get',
      path: '/cameras/discover',
      summary: 'Find ONVIF devices near, or ask one host',
      query: discoveryQuery,
      status: 200,
      answer: z.array(foundCamera),
      errors: ['syntax', 'unavailable'],
    },
  },
  consumer: {
    list: {
      method: 'get',
      path: '/consumers',
      summary: 'List the consumers of the output',
      status: 200,
      answer: z.array(consumer),
      errors: [],
    },
    remove: {
      method: 'delete',
      path: '/consumers/{name}',
      summary: 'Forget a consumer of the output that is not connected, and what was kept for it',
      params: z.object({ name: z.string() }),
      status: 204,
      answer: null,
      errors: ['id', 'reference'],
    },
  },
  systemStatistics: {
    method: 'get',
    path: '/statistics',
    summary: 'Get CPU and memory load',
    status: 200,
    answer: systemStatistics,
    errors: [],
  },
  about: {
    method: 'get',
    path: '/about',
    summary: 'Get what this engine is',
    status: 200,
    answer: about,
    errors: [],
  },
} as const satisfies Routes
