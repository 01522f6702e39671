import { z } from 'zod'
import { feedCounts } from './feed.ts'
import { engineStatus } from './managed-engine.ts'
import { mqttSettings } from './mqtt-settings.ts'

/**
 * The internal API with which the scheduler follows the live feed of the management service, in
 * order to publish it by MQTT. The scheduler reads an inventory first: the channels, alerts and
 * engines with their current values. Messages of the feed update it.
 */

/**
 * A message of the live feed. The kind `inventory` means that the inventory itself has changed and
 * has to be read again.
 */
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

/** Waits for messages after a position, for a few seconds at most. Returns the messages. */
export const schedulerFeed = {
  path: '/scheduler/feed',
  query: z.strictObject({
    after: z.coerce.number().int(),
    /** Return messages of this kind only. */
    kind: z.string().optional(),
  }),
  response: z.strictObject({
    /** The position for the next request. */
    position: z.int(),
    /**
     * Whether messages after the requested position were already deleted. The client then has to
     * read the inventory again.
     */
    is_expired: z.boolean(),
    messages: z.array(schedulerFeedMessage),
  }),
}
export type SchedulerFeedBatch = z.infer<typeof schedulerFeed.response>

/** A channel in the inventory. */
export const publishedChannel = z.strictObject({
  channel_id: z.uuid(),
  channel_name: z.string(),
  usecase_key: z.string(),
  source_id: z.uuid(),
  device_name: z.string(),
  site_name: z.string(),
  /** The statistics of the usecase, and all others with values. */
  statistics: z.array(
    z.strictObject({ key: z.string(), aggregation: z.enum(['sum', 'mean', 'last']) }),
  ),
  counts: feedCounts,
  /**
   * Status of the pipeline as its engine has last reported it; `unknown` before the first report.
   */
  status: z.string(),
  reason: z.string(),
  /** Whether the channel is running. */
  is_active: z.boolean(),
  /** Whether the engine of the channel is connected. Otherwise, the status may be outdated. */
  is_current: z.boolean(),
})
export type PublishedChannel = z.infer<typeof publishedChannel>

/** An active alert in the inventory. */
export const publishedAlert = z.strictObject({
  alert_id: z.uuid(),
  channel_id: z.uuid(),
  alert_name: z.string(),
  is_firing: z.boolean(),
})
export type PublishedAlert = z.infer<typeof publishedAlert>

/** Returns the inventory. */
export const schedulerInventory = {
  path: '/scheduler/inventory',
  response: z.strictObject({
    /** Position in the feed: the inventory includes the effects of all messages up to it. */
    position: z.int(),
    /** Settings with the password. */
    settings: mqttSettings,
    channels: z.array(publishedChannel),
    alerts: z.array(publishedAlert),
    engines: z.array(
      z.strictObject({
        engine_id: z.uuid(),
        engine_name: z.string(),
        engine_status: engineStatus,
        engine_reason: z.string(),
      }),
    ),
  }),
}
export type SchedulerInventory = z.infer<typeof schedulerInventory.response>
