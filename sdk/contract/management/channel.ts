import { z } from 'zod'
import { route } from './management-route.ts'
import { integer, name, recordId, reference, SECONDS_PER_DAY, text } from './record-fields.ts'

// Descriptions and fields that requests and responses have in common.
const CHANNEL_KEY = 'A key chosen by the caller; it need not be unique'
const THRESHOLD_DURATION =
  'Length in seconds of the time window over which alerts evaluate a statistic'
const favorite = z
  .boolean()
  .meta({ description: 'A mark for clients, without any effect on the channel' })
const storage = z.boolean().meta({
  description:
    'Whether pictures of notifications are stored as long as events; otherwise for a day',
})
const autoRecovery = z.boolean().meta({
  description:
    'Whether a failed channel is removed from the engine and added again, with growing delays',
})

/**
 * A channel in a response of the management API: a source, such as a camera, that is analysed by a
 * pipeline for a usecase, such as people counting.
 */
export const sourceChannel = z
  .object({
    channel_id: recordId,
    channel_key: z.string().meta({ description: CHANNEL_KEY }),
    channel_name: z.string(),
    channel_favorite: favorite,
    channel_threshold_duration: integer.meta({ description: THRESHOLD_DURATION }),
    channel_sid: z.string().meta({
      description: 'Id on the engine, in decimal; empty until the engine has created the channel',
    }),
    is_active: z
      .boolean()
      .meta({ description: 'Whether the channel is running, as last reported by its engine' }),
    is_verified: z.boolean().meta({
      description:
        'Whether source and pipeline on the engine match the configuration that the management service stores',
    }),
    is_auto_recovery: autoRecovery,
    is_storage: storage,
    device_id: recordId
      .nullable()
      .meta({ description: 'Null if the user has access to the channel but not to its device' }),
    engine_id: recordId,
    pipeline_id: recordId,
    site_id: recordId,
    source_id: recordId,
    usecase_id: recordId,
    usecase_key: z.string(),
    usecase_name: z.string(),
    usecase_icon: z.string(),
    usecase_meta_key: z
      .array(z.string())
      .meta({ description: 'Keys of the statistics that channels of the usecase provide' }),
  })
  .meta({ id: 'SourceChannel' })
export type SourceChannel = z.infer<typeof sourceChannel>

/** A channel in a request. */
const channelInput = z.strictObject({
  source_id: reference('source'),
  pipeline_id: reference('pipeline'),
  usecase_key: name,
  channel_name: name,
  channel_key: text.meta({ description: CHANNEL_KEY }),
  channel_favorite: favorite,
  is_storage: storage,
  is_auto_recovery: autoRecovery,
  channel_threshold_duration: z
    .int()
    .min(1)
    .max(SECONDS_PER_DAY)
    .meta({ description: THRESHOLD_DURATION }),
})

/**
 * Fields that may be omitted when a channel is created. By default the key is empty, the flags are
 * false, and the time window is 60 seconds.
 */
const OPTIONAL_FIELDS = {
  channel_key: true,
  channel_favorite: true,
  is_storage: true,
  is_auto_recovery: true,
  channel_threshold_duration: true,
} as const

const byId = z.strictObject({ channel_id: reference('channel') })

/**
 * Fields that only responses have. Clients may send them back as they have read them;
 * they have no effect.
 */
const READ_ONLY_FIELDS = Object.keys(sourceChannel.shape).filter(
  field => field !== 'channel_id' && !(field in channelInput.shape),
)

export const channelRoutes = {
  create: route({
    method: 'post',
    path: '/channel/create',
    summary: 'Create a channel',
    access: 'manage',
    body: channelInput.partial(OPTIONAL_FIELDS),
    ignoredFields: ['channel_id', ...READ_ONLY_FIELDS],
    status: 201,
    response: z.object({ channel_id: recordId }),
    readBack: { path: '/channel/id', by: 'channel_id' },
  }),

  update: route({
    method: 'post',
    path: '/channel/update',
    summary: 'Update a channel',
    description: 'Omitted fields are preserved.',
    access: 'manage',
    body: channelInput.partial().extend(byId.shape),
    ignoredFields: READ_ONLY_FIELDS,
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/channel/delete',
    summary: 'Delete a channel',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/channel/id',
    summary: 'Get a channel',
    access: 'view',
    query: byId,
    status: 200,
    response: sourceChannel,
  }),

  list: route({
    method: 'get',
    path: '/channel/list',
    summary: 'List channels',
    access: 'view',
    query: z.strictObject({
      site_id: reference('site').optional(),
      source_id: reference('source').optional(),
    }),
    status: 200,
    response: z.array(sourceChannel),
  }),
}
