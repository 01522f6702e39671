import { z } from 'zod'
import { booleanParameter } from '../parameters.ts'
import { sourceChannel } from './channel.ts'
import { route } from './management-route.ts'
import { integer, jsonObject, name, recordId, reference, text } from './record-fields.ts'

/**
 * A source in a request of the management API. A source is a video stream of a device
 * that an engine reads.
 */
const sourceInput = z.strictObject({
  device_id: reference('device'),
  engine_id: reference('engine'),
  stream_id: integer.meta({
    description: 'Number of the stream of the device that the engine reads',
  }),
  sub_stream_id: integer.nullish().meta({
    description:
      'A smaller stream of the device, which shows the same picture: the engine analyses it, and small live views show it',
  }),
  source_name: name,
  source_address: text.default(''),
  source_fps: z.number().min(0).max(1000).nullish().meta({ description: 'Maximum frame rate' }),
  source_type: text.default('').meta({
    description:
      'A source type of the engine API determines how the engine reads the source; any other value is stored without effect',
  }),
  static_content: z.array(jsonObject).default([]),
})

/** A source in a response, with its channels. */
export const managedSource = z
  .object({
    ...sourceInput.shape,
    source_id: recordId,
    device_id: recordId,
    engine_id: recordId,
    source_address: z.string(),
    sub_stream_id: z.int().nullable(),
    source_fps: z.number().nullable(),
    source_type: z.string(),
    static_content: z.array(jsonObject),
    source_channels: z.array(sourceChannel),
  })
  .meta({ id: 'ManagedSource' })
export type ManagedSource = z.infer<typeof managedSource>

const byId = z.strictObject({ source_id: reference('source') })

export const sourceRoutes = {
  create: route({
    method: 'post',
    path: '/source/create',
    summary: 'Create a source',
    access: 'manage',
    body: sourceInput,
    ignoredFields: ['source_id', 'source_channels'],
    status: 201,
    response: null,
    readBack: { path: '/source/id', by: 'source_id' },
  }),

  update: route({
    method: 'post',
    path: '/source/update',
    summary: 'Update a source',
    description:
      'Omitted address, sub stream, rate, type and static content are preserved. A password `***` within the address is preserved while scheme, host and port are unchanged.',
    access: 'manage',
    body: sourceInput.extend({
      ...byId.shape,
      source_address: text.optional(),
      source_type: text.optional(),
      static_content: z.array(jsonObject).optional(),
    }),
    ignoredFields: ['source_channels'],
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/source/delete',
    summary: 'Delete a source',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/source/id',
    summary: 'Get a source',
    access: 'view',
    query: byId,
    status: 200,
    response: managedSource,
  }),

  list: route({
    method: 'get',
    path: '/source/list',
    summary: 'List the sources of a device',
    access: 'view',
    query: z.strictObject({ device_id: reference('device') }),
    status: 200,
    response: z.array(managedSource),
  }),

  /**
   * For clients that show one site and connect to one engine: what to show first,
   * and where to connect.
   */
  mapping: route({
    method: 'get',
    path: '/source/mapping',
    summary: 'Get the sources of one site, and an engine that reads them',
    description:
      'Without site_id, the site is the first one by name that the caller may view: among the sites of the default customer if is_default is true, otherwise among those of other customers. If several engines read the sources, the response names the one that reads most of them.',
    access: 'view',
    query: z.strictObject({
      is_default: booleanParameter,
      site_id: reference('site').optional(),
    }),
    status: 200,
    response: z.object({
      is_default: z.boolean(),
      engine_id: recordId.nullable(),
      engine_address: z.string(),
      engine_hostname: z.string(),
      site_id: recordId.nullable(),
      site_name: z.string(),
      sources: z.array(managedSource),
    }),
  }),
}
