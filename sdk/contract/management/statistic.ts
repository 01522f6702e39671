import { z } from 'zod'
import { splitList } from '../parameters.ts'

/**
 * A statistic is a number that is computed from the counters and events of channels. It is
 * identified by a key. Built-in statistics have fixed keys; a plugin can define custom
 * statistics for its usecase.
 */

/**
 * How the values of a statistic are aggregated over time. Across channels, values are added; means
 * are weighted by count.
 */
export type Aggregation = 'sum' | 'mean' | 'last'

/** The built-in statistics, and how each is aggregated. */
export const BUILT_IN_AGGREGATIONS = {
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

export type BuiltInStatisticKey = keyof typeof BUILT_IN_AGGREGATIONS
export const BUILT_IN_STATISTIC_KEYS = Object.keys(BUILT_IN_AGGREGATIONS) as BuiltInStatisticKey[]

export const isBuiltInKey = (key: string): key is BuiltInStatisticKey =>
  Object.hasOwn(BUILT_IN_AGGREGATIONS, key)

/** The aggregation of each custom statistic of a usecase. */
export type Aggregations = Readonly<Record<string, Aggregation>>

/** Returns the aggregation of a statistic; `last` if the key is unknown. */
export function getAggregation(key: string, custom: Aggregations): Aggregation {
  if (isBuiltInKey(key)) return BUILT_IN_AGGREGATIONS[key]
  return custom[key] ?? 'last'
}

/** The values of a statistic over a time, such as an hour. */
export interface CombinedValues {
  sum: number
  /** Number of values. */
  count: number
  /** The latest value, which may be older than this time. */
  last: number | undefined
}

/** Computes a statistic from its values. Returns undefined if there are no values. */
export function computeStatistic(
  aggregation: Aggregation,
  { sum, count, last }: CombinedValues,
): number | undefined {
  switch (aggregation) {
    case 'sum':
      return sum
    case 'mean':
      return count > 0 ? sum / count : undefined
    case 'last':
      return last
  }
}

/** Alias of `moving_average_count` in requests and responses. */
export const MOVING_AVERAGE_ALIAS = 'moving_average'

/** Keys that a custom statistic cannot have. */
const RESERVED_KEYS = [
  // Names of other fields in responses and stored events.
  MOVING_AVERAGE_ALIAS,
  'occupancy_average',
  'id',
  'ids',
  'metadata',
  'threshold',
  'time',
  // Every object inherits a property of this name, so a lookup by key would return it even
  // where no value is stored.
  'constructor',
]

const CUSTOM_KEY = /^[a-z][a-z\d_]{0,62}$/

/** Whether a plugin may define a statistic with this key. */
export const isCustomKey = (key: string): boolean =>
  CUSTOM_KEY.test(key) && !RESERVED_KEYS.includes(key) && !isBuiltInKey(key)

/** The key of a built-in statistic or a possible key of a custom statistic. */
export const statisticKey = z
  .string()
  .refine(key => isBuiltInKey(key) || isCustomKey(key), { error: describeUnknownStatistic })
  .meta({ examples: ['up', 'occupancy'] })

/** Returns the error message for a key that is not a statistic of the usecase. */
export function describeUnknownStatistic({ input }: { input?: unknown }): string {
  return `unknown statistic "${input}": use one of ${BUILT_IN_STATISTIC_KEYS.join(', ')}, or a custom statistic of the usecase`
}

/** A key in a request. Surrounding spaces are removed and the alias is replaced. */
const normalizedStatisticKey = z
  .string()
  .transform(text => text.trim())
  .transform(key => (key === MOVING_AVERAGE_ALIAS ? 'moving_average_count' : key))
  .pipe(statisticKey)

/** Statistic keys in a request. */
export const statisticKeyList = z.array(normalizedStatisticKey).max(100)
export const requestedStatisticKeys = statisticKeyList.min(1)

/** Statistic keys in a query. The parameter is repeated, or its values are separated by commas. */
export const statisticKeysParameter = z.preprocess(splitList, requestedStatisticKeys).meta({
  description:
    'Keys of the requested statistics, as GET /usecase/list shows them in usecase_meta_key, or `alert`',
  examples: ['up,down'],
})
