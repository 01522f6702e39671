import { z } from 'zod'
import { activation, license } from './activation.ts'
import { catalog, catalogElement, catalogModel } from './catalog.ts'
import { configuration, deployment } from './configuration.ts'
import type { ErrorCode } from './errors.ts'
import { channelProperties, channelProperty, exportsBody, staticFormat } from './exports.ts'
import { id, idList } from './ids.ts'
import { pipeline, pipelineInput, pipelinePatch, pipelineStatistics } from './pipeline.ts'
import { flag, idText, list } from './query.ts'
import { sink, sinkInput, sinkPatch } from './sink.ts'
import { source, sourceInput, sourcePatch } from './source.ts'
import { about, systemStatistics } from './statistics.ts'

/** An operation of the REST API, as data: the server, its document and its clients are derived from it. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  summary: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** Status of success and its body; null where there is none. */
  status: 200 | 201 | 204
  answer: z.ZodType | null
  errors: readonly ErrorCode[]
}

const byId = z.object({ id: idText })
const force = z.object({ force: flag })
const modelFilter = list(z.enum(['devices', 'none'])).default(['devices'])

/** An update's body may repeat the id that its path names. */
const mayNameId = <Shape extends z.ZodRawShape>(body: z.ZodObject<Shape, z.core.$strict>) =>
  body.extend({ id: id.optional() })

function crud<
  Name extends string,
  Stored extends z.ZodType,
  Input extends z.ZodRawShape,
  Patch extends z.ZodRawShape,
>(
  name: Name,
  stored: Stored,
  input: z.ZodObject<Input, z.core.$strict>,
  patch: z.ZodObject<Patch, z.core.$strict>,
) {
  const path = `/${name}s`
  const one = `${path}/{id}`
  return {
    list: { method: 'get', path, summary: `List ${name}s`, status: 200, answer: z.array(stored), errors: [] },
    create: {
      method: 'post',
      path,
      summary: `Create a ${name}`,
      body: input,
      status: 201,
      answer: stored,
      errors: ['syntax', 'id', 'precondition'],
    },
    get: {
      method: 'get',
      path: one,
      summary: `Get a ${name}`,
      params: byId,
      status: 200,
      answer: stored,
      errors: ['id'],
    },
    update: {
      method: 'put',
      path: one,
      summary: `Replace a ${name}`,
      params: byId,
      body: mayNameId(input),
      status: 200,
      answer: stored,
      errors: ['syntax', 'id', 'precondition'],
    },
    modify: {
      method: 'patch',
      path: one,
      summary: `Modify a ${name} by a merge patch`,
      params: byId,
      body: mayNameId(patch),
      status: 200,
      answer: stored,
      errors: ['syntax', 'id', 'precondition'],
    },
    remove: {
      method: 'delete',
      path: one,
      summary: `Delete a ${name}`,
      params: byId,
      query: force,
      status: 204,
      answer: null,
      errors: ['id', 'syntax', 'reference', 'precondition'],
    },
  } as const satisfies Record<string, Route>
}

const connection = (kind: 'sources' | 'sinks', verb: 'connect' | 'disconnect') =>
  ({
    method: 'post',
    path: `/pipelines/{id}/${verb}-${kind}`,
    summary: verb === 'connect' ? `Connect ${kind} to a pipeline` : `Disconnect ${kind} from a pipeline`,
    params: byId,
    body: idList,
    status: 200,
    answer: pipeline,
    errors: ['syntax', 'id', 'precondition'],
  }) as const satisfies Route

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
    query: z.object({ override: z.enum(['capacity']).optional() }),
    body: deployment,
    status: 200,
    answer: configuration,
    errors: ['syntax', 'activation', 'capacity', 'precondition'],
  },
  source: crud('source', source, sourceInput, sourcePatch),
  sink: crud('sink', sink, sinkInput, sinkPatch),
  pipeline: crud('pipeline', pipeline, pipelineInput, pipelinePatch),
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
  connectSources: connection('sources', 'connect'),
  disconnectSources: connection('sources', 'disconnect'),
  connectSinks: connection('sinks', 'connect'),
  disconnectSinks: connection('sinks', 'disconnect'),
  getExports: {
    method: 'get',
    path: '/exports',
    summary: 'List channels and streams',
    query: z.object({ filter: list(z.enum(['streams', 'channels'])).optional() }),
    status: 200,
    answer: exportsBody,
    errors: ['syntax'],
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
} as const satisfies Record<string, Route | Record<string, Route>>
