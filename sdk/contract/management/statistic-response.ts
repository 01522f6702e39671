import { z } from 'zod'
import { recordId } from './record-fields.ts'
import {
  BUILT_IN_STATISTIC_KEYS,
  type BuiltInStatisticKey,
  MOVING_AVERAGE_ALIAS,
} from './statistic.ts'

/**
 * Responses of the management API with statistics: numbers such as `up` and `occupancy`, computed
 * from the counters and events of channels over a time range.
 */

const statisticValue = z.number().optional()

/** One field for each built-in statistic. */
const builtInFields = Object.fromEntries(
  BUILT_IN_STATISTIC_KEYS.map(key => [key, statisticValue]),
) as Record<BuiltInStatisticKey, typeof statisticValue>

/** The values of statistics, by key. Requested custom statistics are additional fields. */
export const statisticValues = z
  .looseObject({
    ...builtInFields,
    dwell_time: statisticValue.meta({ description: 'In seconds' }),
    [MOVING_AVERAGE_ALIAS]: statisticValue,
    ids: z.array(z.string()).meta({
      description:
        'Ids of the tracked objects of the newest events, without duplicates; at most 1000',
    }),
  })
  .meta({
    id: 'ChannelStatistics',
    description:
      'The requested statistics. Statistics that were not requested, or that the usecase does not have, are absent.',
  })
export type StatisticValues = z.infer<typeof statisticValues>

/** How often an alert has fired in a time range, and when it fired last. */
export const channelAlert = z
  .object({
    channel: recordId,
    condition: z.string(),
    count: z.int().meta({ description: 'How often the alert has fired' }),
    key: z.string().meta({ description: 'Key of the statistic' }),
    name: z.string().meta({ description: 'Name of the alert' }),
    time: z.string().meta({ description: 'When the alert fired last' }),
  })
  .meta({ id: 'ChannelAlert' })
export type ChannelAlert = z.infer<typeof channelAlert>

/** The statistics and alerts of a channel over a time range. */
export const channelStats = z
  .object({
    channel_alert: z.array(channelAlert),
    channel_id: recordId,
    channel_key: z.string(),
    channel_name: z.string(),
    channel_stats: statisticValues,
    channel_total_alert: z.int(),
    channel_total_notification: z.int(),
    usecase_key: z.string(),
  })
  .meta({ id: 'ChannelStats' })
export type ChannelStats = z.infer<typeof channelStats>

/**
 * Creates a schema for the statistics of all channels of a usecase. `totals` is the
 * schema of their totals.
 */
const createUsecaseStatsSchema = <Totals extends z.ZodType>(totals: Totals) =>
  z.object({
    usecase_channel: z.array(channelStats),
    usecase_key: z.string(),
    usecase_total_alert: z.int(),
    usecase_total_notification: z.int(),
    usecase_total_stats: totals,
  })

/** Statistics of a usecase, as the POST operation returns them. */
export const usecaseStats = createUsecaseStatsSchema(statisticValues).meta({ id: 'UsecaseStats' })
export type UsecaseStats = z.infer<typeof usecaseStats>

/**
 * In the GET operation for the same statistics, totals have names without underscores: `dwelltime`.
 */
const removeUnderscores = (key: string) => key.replaceAll('_', '')

/**
 * Fields of `StatisticValues` that are not totals in the GET operation. `alert` has a field of its
 * own, `usecase_total_alert`.
 */
const OMITTED_TOTALS: ReadonlySet<string> = new Set(['alert', 'ids', MOVING_AVERAGE_ALIAS])

const QUERY_TOTAL_KEYS = BUILT_IN_STATISTIC_KEYS.filter(key => !OMITTED_TOTALS.has(key)).map(
  removeUnderscores,
)
const queryTotals = z
  .looseObject(Object.fromEntries(QUERY_TOTAL_KEYS.map(key => [key, statisticValue])))
  .meta({ id: 'UsecaseTotals' })

/** Statistics of a usecase, as the GET operation returns them. */
export const usecaseStatsByQuery = createUsecaseStatsSchema(queryTotals).meta({
  id: 'UsecaseStatsByQuery',
})

/** Converts totals to the fields of the GET operation. Custom statistics are included. */
export function toQueryTotals(totals: StatisticValues): Record<string, number> {
  const entries = Object.entries(totals).filter(([key]) => !OMITTED_TOTALS.has(key))
  return Object.fromEntries(
    entries.map(([key, total]) => [removeUnderscores(key), total as number]),
  )
}

/**
 * The aggregated events of one time bucket, one of the equal intervals into which a
 * time range is divided.
 */
export const eventRecord = z
  .looseObject({
    ...statisticValues.shape,
    id: z.int().meta({ description: 'Position among all buckets of the time range, from 1' }),
    metadata: z
      .string()
      .meta({ description: 'With details: JSON array of at most 20 of the newest events' }),
    threshold: z
      .string()
      .meta({ description: 'Comma-separated thresholds of the alerts that fired' }),
    time: z.iso.datetime().meta({ description: 'Start of the bucket' }),
  })
  .meta({ id: 'EventRecord' })
export type EventRecord = z.infer<typeof eventRecord>
