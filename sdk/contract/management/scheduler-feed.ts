import { z } from 'zod'
import { feedCounts } from './feed.ts'
import { mqttSettings } from './mqtt-settings.ts'

/** The internal API by which the scheduler follows the live feed, to publish it to other systems. */

/** A message of the live feed, of any kind. `inventory`: what `schedulerInventory` returns has changed. */
export const schedulerFeedMessage = z.strictObject({
  position: z.int(),
  kind: z.string(),
  /** RFC 3339. */
  time: z.string(),
  channel_id: z.uuid().nullable(),
  source_id: z.uuid().nullable(),
  engine_id: z.uuid().nullable(),
  data: z.record(z.string(), z.unknown()),
})
export type SchedulerFeedMessage = z.infer<typeof schedulerFeedMessage>

/** Answers when there are messages after a position, or after some seconds. */
export const schedulerFeed = {
  path: '/scheduler/feed',
  query: z.strictObject({
    after: z.coerce.number().int(),
    /** Return messages of this kind only. */
    kind: z.string().optional(),
  }),
  response: z.strictObject({
    /** The position after which to go on. */
    position: z.int(),
    /** Messages after the position were deleted already: read the inventory again. */
    is_expired: z.boolean(),
    messages: z.array(schedulerFeedMessage),
  }),
}
export type SchedulerFeedBatch = z.infer<typeof schedulerFeed.response>

export const publishedChannel = z.strictObject({
  channel_id: z.uuid(),
  channel_name: z.string(),
  usecase_key: z.string(),
  source_id: z.uuid(),
  device_name: z.string(),
  site_name: z.string(),
  /** The statistics of the usecase, and all others with values. */
  statistics: z.array(z.strictObject({ key: z.string(), aggregation: z.enum(['sum', 'mean', 'last']) })),
  counts: feedCounts,
  status: z.string(),
  reason: z.string(),
  is_active: z.boolean(),
  is_current: z.boolean(),
})
export type PublishedChannel = z.infer<typeof publishedChannel>

export const publishedAlert = z.strictObject({
  alert_id: z.uuid(),
  channel_id: z.uuid(),
  alert_name: z.string(),
  is_firing: z.boolean(),
})
export type PublishedAlert = z.infer<typeof publishedAlert>

/** What the scheduler publishes by MQTT, as it is now. */
export const schedulerInventory = {
  path: '/scheduler/inventory',
  response: z.strictObject({
    /** The last message of the feed that the inventory contains for certain. */
    position: z.int(),
    /** With the password. */
    settings: mqttSettings,
    channels: z.array(publishedChannel),
    alerts: z.array(publishedAlert),
    engines: z.array(
      z.strictObject({
        engine_id: z.uuid(),
        engine_name: z.string(),
        engine_status: z.int(),
        engine_reason: z.string(),
      }),
    ),
  }),
}
export type SchedulerInventory = z.infer<typeof schedulerInventory.response>
