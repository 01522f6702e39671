import { z } from 'zod'
import { sourceChannel } from './channel.ts'
import { route } from './management-route.ts'
import { integer, key, name, recordId, reference, text } from './record-fields.ts'

/**
 * Devices, such as cameras, in the management API. A device belongs to a site and
 * offers video streams.
 */

const pixels = z.int().min(1).max(65_535)
const framesPerSecond = z.number().min(0).max(1000)

/** A video stream that a device offers. */
export const deviceStream = z
  .strictObject({
    id: integer.meta({ description: 'Number of the stream, unique for the device' }),
    address: text.default(''),
    fps: z
      .strictObject({ input: framesPerSecond.optional(), output: framesPerSecond.optional() })
      .nullish(),
    password: text.default(''),
    port: z.int().min(1).max(65_535).nullish(),
    protocol: text.default(''),
    resolution: z.strictObject({ height: pixels.optional(), width: pixels.optional() }).nullish(),
    type: text.default(''),
    username: text.default(''),
    uuid: text.default(''),
  })
  .meta({ id: 'DeviceStream' })
export type DeviceStream = z.infer<typeof deviceStream>

function hasUniqueIds(streams: readonly { id?: number }[]): boolean {
  const ids = streams.map(({ id }) => id).filter(id => id !== undefined)
  return new Set(ids).size === ids.length
}

/** A device in a request. */
const deviceInput = z.strictObject({
  site_id: reference('site'),
  engine_id: reference('engine'),
  device_identifier: key.meta({ description: 'Unique for the site' }),
  device_name: name,
  device_type: text,
  device_uuid: text.default(''),
  device_tags: z
    .record(z.string(), z.string())
    .meta({ description: 'Values by name, such as `floor`' }),
  device_streams: z
    .array(deviceStream.extend({ id: integer.optional() }))
    .max(100)
    .refine(hasUniqueIds, { error: 'ids must be unique' })
    .optional()
    .meta({ description: 'Streams without an id are numbered from 1' }),
})

export const deviceStatus = z.enum(['unknown', 'online', 'offline', 'error']).meta({
  description: [
    'online: a channel of the device is active',
    'offline: no channel of the device is active, or the engine is offline',
    'error: the engine needs an action',
    'unknown: the device has no channels, or the engine has not been contacted yet',
  ].join('; '),
})
export type DeviceStatus = z.infer<typeof deviceStatus>

/** A source of the engine that reads a stream of the device. */
export const deviceSource = z
  .object({
    source_id: recordId,
    source_name: z.string(),
    source_address: z.string(),
    source_fps: z
      .number()
      .nullable()
      .meta({ description: 'Maximum frame rate; null if it is not limited' }),
    source_sid: z
      .int()
      .nullable()
      .meta({ description: 'Id on the engine; null until it has the source' }),
    source_type: z.string(),
    source_channels: z.array(sourceChannel),
  })
  .meta({ id: 'DeviceSource' })

/** A device in a response. */
export const device = z
  .object({
    ...deviceInput.shape,
    device_id: recordId,
    site_id: recordId,
    engine_id: recordId,
    device_uuid: z.string(),
    device_streams: z.array(z.object(deviceStream.shape)),
    device_state: z.boolean().meta({ description: 'Whether device_status is `online`' }),
    device_status: deviceStatus,
    device_value: z.string(),
    device_source: z.array(deviceSource),
    source_channels: z
      .array(sourceChannel)
      .meta({ description: 'The channels of all these sources' }),
    transaction_id: z.string().meta({ description: 'Changes with every change of the device' }),
  })
  .meta({ id: 'Device' })
export type Device = z.infer<typeof device>

/**
 * The response to a request for a single device. It has the sources twice, because clients read
 * one or the other field.
 */
const deviceView = z
  .object({ ...device.shape, device_sources: z.array(deviceSource) })
  .meta({ id: 'DeviceView' })

const byId = z.strictObject({ device_id: reference('device') })

/** Fields that clients may send back as they have read them. They have no effect. */
const READ_ONLY_FIELDS = [
  'device_state',
  'device_status',
  'device_value',
  'device_source',
  'device_sources',
  'source_channels',
  'transaction_id',
]

export const deviceRoutes = {
  create: route({
    method: 'post',
    path: '/device/create',
    summary: 'Create a device',
    access: 'manage',
    body: deviceInput,
    ignoredFields: ['device_id', ...READ_ONLY_FIELDS],
    status: 201,
    response: z.object({ device_id: recordId }),
    readBack: { path: '/device/id', by: 'device_id' },
  }),

  update: route({
    method: 'post',
    path: '/device/update',
    summary: 'Update a device',
    description:
      'Omitted UUID and streams are preserved. The password `***` of a stream is preserved while its protocol, host and port are unchanged, also within its address.',
    access: 'manage',
    body: deviceInput.extend({ ...byId.shape, device_uuid: text.optional() }),
    ignoredFields: READ_ONLY_FIELDS,
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/device/delete',
    summary: 'Delete a device',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/device/id',
    summary: 'Get a device',
    access: 'view',
    query: byId,
    status: 200,
    response: deviceView,
  }),

  /** The same as `get`, under the path that corresponds to `/site/view`. */
  view: route({
    method: 'get',
    path: '/device/view',
    summary: 'Get a device with its sources and channels',
    access: 'view',
    query: byId,
    status: 200,
    response: deviceView,
  }),

  list: route({
    method: 'get',
    path: '/device/list',
    summary: 'List the devices of a site',
    access: 'view',
    query: z.strictObject({ site_id: reference('site') }),
    status: 200,
    response: z.array(device),
  }),
}
