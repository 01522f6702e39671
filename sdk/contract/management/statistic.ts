import { z } from 'zod'
import { recordId } from './record-fields.ts'

/** How a statistic is aggregated over time. Across channels, values are added and means are weighted by their counts. */
export type Aggregation = 'sum' | 'mean' | 'last'

/** The built-in statistics and their aggregation over time. */
export const aggregations = {
  alert: 'sum',
  down: 'sum',
  dwell_time: 'mean',
  fire: 'sum',
  frame_collision: 'sum',
  frame_near_miss: 'sum',
  high_smoke: 'sum',
  intermediate_smoke: 'sum',
  low_smoke: 'sum',
  moving_average_count: 'last',
  non_violation: 'sum',
  occupancy: 'last',
  total: 'sum',
  total_collision: 'last',
  total_near_miss: 'last',
  up: 'sum',
  violation: 'sum',
} as const satisfies Record<string, Aggregation>

export type StatisticKey = keyof typeof aggregations
export const statisticKeys = Object.keys(aggregations) as StatisticKey[]
export const statisticKey = z.enum(statisticKeys as [StatisticKey, ...StatisticKey[]])

/** Aggregation of the custom statistics of a plugin's usecase. */
export type Aggregations = Readonly<Record<string, Aggregation>>

export const isStatisticKey = (key: string): key is StatisticKey => Object.hasOwn(aggregations, key)

export const getAggregation = (key: string, custom: Aggregations): Aggregation =>
  isStatisticKey(key) ? aggregations[key] : (custom[key] ?? 'last')

/** Alias of `moving_average_count`. */
const movingAverage = 'moving_average'

/** Names of other fields in responses and stored events, which cannot be used as custom keys. */
const reservedKeys = [
  movingAverage,
  'occupancy_average',
  'id',
  'ids',
  'metadata',
  'threshold',
  'time',
  'constructor',
]
const CUSTOM_KEY = /^[a-z][a-z\d_]{0,62}$/

/** Whether a plugin may define a statistic with this key. */
export const isCustomKey = (key: string): boolean =>
  CUSTOM_KEY.test(key) && !reservedKeys.includes(key) && !isStatisticKey(key)

/** A built-in statistic, or a custom statistic of the usecase. */
export const anyStatisticKey = z
  .string()
  .refine(key => isStatisticKey(key) || isCustomKey(key), { error: describeUnknownStatistic })
  .meta({ examples: ['up', 'occupancy'] })

/** Error message for a key that is not a statistic of the usecase. */
export function describeUnknownStatistic({ input }: { input?: unknown }): string {
  return `unknown statistic "${input}": use one of ${statisticKeys.join(', ')}, or a custom statistic of the usecase`
}

const selected = z
  .string()
  .transform(text => text.trim())
  .transform(key => (key === movingAverage ? 'moving_average_count' : key))
  .pipe(anyStatisticKey)

export const statisticList = z.array(selected).min(1).max(100)

/** Statistic keys in a query: repeated or separated by commas. */
export const statisticSelection = z
  .preprocess(
    value => (value === undefined ? undefined : [value].flat().flatMap(part => String(part).split(','))),
    statisticList,
  )
  .meta({ examples: ['up,down'] })

/**
 * Values of all built-in statistics; the ones that were not requested are 0. `dwell_time` is in seconds. Requested custom
 * statistics are additional fields.
 */
const amounts = Object.fromEntries(statisticKeys.map(key => [key, z.number()])) as Record<
  StatisticKey,
  z.ZodNumber
>

export const statistics = z
  .looseObject({
    ...amounts,
    [movingAverage]: z.number(),
    ids: z.array(z.string()).meta({ description: 'Distinct tracks of the newest events, at most 1000' }),
  })
  .meta({ id: 'ChannelStatistics' })
export type Statistics = z.infer<typeof statistics>

/** How often an alert has fired, and the time of the last one. */
export const channelAlert = z
  .object({
    channel: recordId,
    condition: z.string(),
    count: z.int(),
    key: z.string(),
    name: z.string(),
    time: z.string(),
  })
  .meta({ id: 'ChannelAlert' })
export type ChannelAlert = z.infer<typeof channelAlert>

export const channelStats = z
  .object({
    channel_alert: z.array(channelAlert),
    channel_id: recordId,
    channel_key: z.string(),
    channel_name: z.string(),
    channel_stats: statistics,
    channel_total_alert: z.int(),
    channel_total_notification: z.int(),
    usecase_key: z.string(),
  })
  .meta({ id: 'ChannelStats' })
export type ChannelStats = z.infer<typeof channelStats>

const createUsecaseStats = <Totals extends z.ZodType>(totals: Totals) =>
  z.object({
    usecase_channel: z.array(channelStats),
    usecase_key: z.string(),
    usecase_total_alert: z.int(),
    usecase_total_notification: z.int(),
    usecase_total_stats: totals,
  })

export const usecaseStats = createUsecaseStats(statistics).meta({ id: 'UsecaseStats' })
export type UsecaseStats = z.infer<typeof usecaseStats>

/** The totals of the query operation: the same values, with underscores removed from the names. */
const { alert: _, ...totals } = amounts
const removeUnderscores = (key: string) => key.replaceAll('_', '')
const queryTotals = z
  .looseObject(Object.fromEntries(Object.keys(totals).map(key => [removeUnderscores(key), z.number()])))
  .meta({ id: 'UsecaseTotals' })

export const usecaseStatsByQuery = createUsecaseStats(queryTotals).meta({ id: 'UsecaseStatsByQuery' })

/** Converts totals to the names of the query operation. */
export const toQueryTotals = ({ alert, ids, [movingAverage]: _, ...totals }: Statistics) =>
  Object.fromEntries(
    Object.entries(totals).map(([key, amount]) => [removeUnderscores(key), amount as number]),
  )

/** The aggregated events of one time bucket. */
export const eventRecord = z
  .looseObject({
    ...statistics.shape,
    id: z.int().meta({ description: 'Position among all buckets of the time range, from 1' }),
    metadata: z.string().meta({ description: 'With details: JSON array of at most 20 of the newest events' }),
    threshold: z.string().meta({ description: 'Comma-separated thresholds of the alerts that fired' }),
    time: z.iso.datetime().meta({ description: 'Start of the bucket' }),
  })
  .meta({ id: 'EventRecord' })
export type EventRecord = z.infer<typeof eventRecord>
