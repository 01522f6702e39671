import { z } from 'zod'
import { recordId } from './record-fields.ts'

/** How a key is aggregated over time; over channels all are added, but means are weighted by what they are of. */
export type Aggregation = 'sum' | 'mean' | 'last'

/** The fields of statistics, and how each is aggregated over time. */
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

/** How the keys are aggregated that a plugin's usecase has of its own. */
export type Aggregations = Readonly<Record<string, Aggregation>>

export const isStatisticKey = (key: string): key is StatisticKey => Object.hasOwn(aggregations, key)

export const getAggregation = (key: string, own: Aggregations): Aggregation =>
  isStatisticKey(key) ? aggregations[key] : (own[key] ?? 'last')

/** The other name of `moving_average_count`. */
const movingAverage = 'moving_average'

/** Fields of answers, and of what is stored, that no plugin's key may be. */
const taken = [
  movingAverage,
  'occupancy_average',
  'id',
  'ids',
  'metadata',
  'threshold',
  'time',
  'constructor',
]
const OWN_KEY = /^[a-z][a-z\d_]{0,62}$/

/** Whether a plugin may have this key of its own. */
export const isCustomKey = (key: string): boolean =>
  OWN_KEY.test(key) && !taken.includes(key) && !isStatisticKey(key)

/** A statistics field, or a key that the usecase has of its own. */
export const anyStatisticKey = z
  .string()
  .refine(key => isStatisticKey(key) || isCustomKey(key), { error: describeUnknownStatistic })
  .meta({ examples: ['up', 'occupancy'] })

/** What is wrong with a key that its usecase does not have. */
export function describeUnknownStatistic({ input }: { input?: unknown }): string {
  return `there is no statistic "${input}": take some of ${statisticKeys.join(', ')}, or one that the usecase has of its own`
}

const selected = z
  .string()
  .transform(text => text.trim())
  .transform(key => (key === movingAverage ? 'moving_average_count' : key))
  .pipe(anyStatisticKey)

/** The statistics that are asked for. */
export const statisticList = z.array(selected).min(1).max(100)

/** The same in a query: repeated, or separated by commas. */
export const statisticSelection = z
  .preprocess(
    given => (given === undefined ? undefined : [given].flat().flatMap(part => String(part).split(','))),
    statisticList,
  )
  .meta({ examples: ['up,down'] })

/**
 * Of every field, in seconds for `dwell_time`; those that were not asked for are 0. What was asked for of the keys that a
 * usecase has of its own stands beside them.
 */
const amounts = Object.fromEntries(statisticKeys.map(key => [key, z.number()])) as Record<
  StatisticKey,
  z.ZodNumber
>

export const statistics = z
  .looseObject({
    ...amounts,
    [movingAverage]: z.number(),
    ids: z.array(z.string()).meta({ description: 'Tracks of the newest events, each once, 1000 at most' }),
  })
  .meta({ id: 'ChannelStatistics' })
export type Statistics = z.infer<typeof statistics>

/** How often an alert has fired, and when last. */
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

const usecaseStatsOf = <Totals extends z.ZodType>(totals: Totals) =>
  z.object({
    usecase_channel: z.array(channelStats),
    usecase_key: z.string(),
    usecase_total_alert: z.int(),
    usecase_total_notification: z.int(),
    usecase_total_stats: totals,
  })

export const usecaseStats = usecaseStatsOf(statistics).meta({ id: 'UsecaseStats' })
export type UsecaseStats = z.infer<typeof usecaseStats>

/** The fields of the query form's totals: the same without underscores. */
const { alert: _, ...totalled } = amounts
const run = (key: string) => key.replaceAll('_', '')
const runTotals = z
  .looseObject(Object.fromEntries(Object.keys(totalled).map(key => [run(key), z.number()])))
  .meta({ id: 'UsecaseTotals' })

export const usecaseStatsByQuery = usecaseStatsOf(runTotals).meta({ id: 'UsecaseStatsByQuery' })

/** Totals under the names that the query form gives them. */
export const toQueryTotals = ({ alert, ids, [movingAverage]: _, ...totals }: Statistics) =>
  Object.fromEntries(Object.entries(totals).map(([key, amount]) => [run(key), amount as number]))

/** What happened within one bucket of time. */
export const eventRecord = z
  .looseObject({
    ...statistics.shape,
    id: z.int().meta({ description: 'Place among all records of the period, from 1' }),
    metadata: z.string().meta({ description: 'With details: JSON array of the newest events, 20 at most' }),
    threshold: z.string().meta({ description: 'Thresholds of the alerts that fired, separated by commas' }),
    time: z.iso.datetime().meta({ description: 'Beginning of the bucket' }),
  })
  .meta({ id: 'EventRecord' })
export type EventRecord = z.infer<typeof eventRecord>
