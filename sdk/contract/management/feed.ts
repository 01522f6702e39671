import { z } from 'zod'
import { splitList } from '../parameters.ts'
import { route } from './management-route.ts'
import { recordId, reference, timestamp } from './record-fields.ts'

/**
 * The live feed in the management API: messages about what happens, as they occur. A message of the
 * kind `picture`, for example, reports that the picture of a notification is stored.
 */

/** What the messages of the live feed are about. */
export const FEED_KINDS = [
  'notification',
  'picture',
  'alert_state',
  'incident',
  'system_alert',
  'count',
  'channel_state',
  'source_state',
  'engine_state',
] as const
export type FeedKind = (typeof FEED_KINDS)[number]

const feedId = z.string().regex(/^\d{1,16}$/, { error: 'must be the id of a message of the feed' })

/**
 * A message of the live feed. At most one of `channel_id`, `source_id` and `engine_id` is not null:
 * users who may view this record receive the message. If all are null, the message is about the
 * appliance, and only superadmins receive it.
 */
export const feedMessage = z.strictObject({
  /** Increases with each message. */
  id: feedId,
  kind: z.enum(FEED_KINDS),
  time: timestamp,
  channel_id: recordId.nullable(),
  source_id: recordId.nullable(),
  engine_id: recordId.nullable(),
  data: z.record(z.string(), z.unknown()),
})
export type FeedMessage = z.infer<typeof feedMessage>

/**
 * A message about the connection:
 * - `ready`: the messages after `id` follow
 * - `reset`: messages before `id` are missing, so the client has to read the lists again
 * - `heartbeat`: the client has received all messages up to `id`
 */
export const feedSignal = z.strictObject({
  id: feedId,
  kind: z.enum(['ready', 'reset', 'heartbeat']),
})

/** The last message of a connection that management ends. */
export const feedEnd = z.strictObject({
  kind: z.literal('end'),
  code: z.string(),
  reason: z.string(),
})

export type FeedEvent = FeedMessage | z.infer<typeof feedSignal> | z.infer<typeof feedEnd>

/** The current values of a channel's statistics in a message of the kind `count`, by key. */
export const feedCounts = z.record(
  z.string(),
  z.object({
    /** Sums and means are those of the current day in the time zone of the site. */
    value: z.number(),
    aggregation: z.enum(['sum', 'mean', 'last']),
    time: z.string(),
  }),
)
export type FeedCounts = z.infer<typeof feedCounts>

export const feedRoutes = {
  stream: route({
    method: 'get',
    path: '/feed/stream',
    summary: 'Follow notifications, incidents, system alerts, counts and states',
    description:
      'Server-sent events, or a WebSocket with the same messages if the request asks for an upgrade. Both resume after last_id or the header Last-Event-ID for 15 minutes; after that, the first message is `reset`.',
    access: 'view',
    query: z.strictObject({
      last_id: feedId
        .optional()
        .meta({ description: 'Id of the last message that the client has received' }),
      channel_id: reference('channel').optional(),
      site_id: reference('site').optional(),
      feed_kinds: z
        .preprocess(splitList, z.array(z.enum(FEED_KINDS)).min(1))
        .optional()
        .meta({ description: 'Kinds of messages, separated by commas; all by default' }),
    }),
    status: 200,
    responseType: 'text/event-stream',
  }),
}
