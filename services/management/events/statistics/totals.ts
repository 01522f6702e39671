import {
  type Aggregations,
  type CombinedValues,
  computeStatistic,
  getAggregation,
} from '@eyrie/contract/management/statistic'
import type { StatisticValues } from '@eyrie/contract/management/statistic-response'
import {
  advanceMovingAverage,
  MOVING_AVERAGE,
  OCCUPANCY,
  OCCUPANCY_AVERAGE,
} from './contribution.ts'
import { NOTIFICATION_KEY } from './samples.ts'

/**
 * The combined values of one statistic within a bucket, which is a period such as an hour. The
 * aggregation of the statistic determines from which of the fields it is computed.
 */
export interface Aggregate extends CombinedValues {
  last: number
  /** Time of the latest value, in epoch ms. */
  lastAt: number
}

/** The aggregates of a channel within a bucket, by statistic key. */
export type Aggregates = ReadonlyMap<string, Aggregate>

/** Which statistics to compute. */
export interface StatisticSelection {
  /** The requested keys. */
  keys: readonly string[]
  /** The keys of the statistics that the usecase has. They exist even before there are values. */
  availableKeys: readonly string[]
  /** Aggregations of the keys that the usecase defines itself. */
  customAggregations: Aggregations
}

/** The statistics of one or more channels, before rounding. */
export interface Totals {
  /** The values of the requested statistics that exist. */
  amounts: Readonly<Record<string, number>>
  /** Number of aggregated values per key. */
  counts: Readonly<Record<string, number>>
}

/**
 * Computes the statistics of a channel within a bucket that ends at `endMs` (epoch ms). A statistic
 * of the usecase without values is 0. A statistic that the usecase does not have is absent, unless
 * an element of the pipeline reports it anyway.
 * @param windowSeconds length of the window of the moving average.
 */
export function computeTotals(
  aggregates: Aggregates,
  selection: StatisticSelection,
  endMs: number,
  windowSeconds: number,
): Totals {
  function computeAmount(key: string): number {
    const aggregate = aggregates.get(key)
    if (key === MOVING_AVERAGE) {
      return aggregate?.last ?? computeMovingAverage(aggregates, endMs, windowSeconds)
    }
    if (!aggregate) return 0
    return computeStatistic(getAggregation(key, selection.customAggregations), aggregate) ?? 0
  }

  const existingKeys = selectExistingKeys(selection, [...aggregates.keys()])
  return {
    amounts: mapKeys(existingKeys, computeAmount),
    counts: mapKeys(existingKeys, key => aggregates.get(key)?.count ?? 0),
  }
}

/** Advances the stored moving average to the end of the bucket. */
function computeMovingAverage(
  aggregates: Aggregates,
  endMs: number,
  windowSeconds: number,
): number {
  const average = aggregates.get(OCCUPANCY_AVERAGE)
  const occupancy = aggregates.get(OCCUPANCY)
  if (!average || !occupancy) return 0
  return advanceMovingAverage(average.last, occupancy.last, endMs - average.lastAt, windowSeconds)
}

/**
 * Returns the requested keys that the usecase has or for which values are stored. Every
 * channel counts its alerts.
 */
export function selectExistingKeys(
  { keys, availableKeys }: StatisticSelection,
  storedKeys: readonly string[],
): string[] {
  const existing = new Set([...availableKeys, NOTIFICATION_KEY, ...storedKeys])
  // The moving average is computed from the stored occupancy.
  if (existing.has(OCCUPANCY_AVERAGE)) existing.add(MOVING_AVERAGE)
  return keys.filter(key => existing.has(key))
}

/**
 * Combines the statistics of channels: sums are added, and means are weighted by the number of
 * values.
 */
export function combineTotals(channels: readonly Totals[], selection: StatisticSelection): Totals {
  const channelKeys = channels.flatMap(({ amounts }) => Object.keys(amounts))
  const amounts: Record<string, number> = {}
  const counts: Record<string, number> = {}
  for (const key of selectExistingKeys(selection, channelKeys)) {
    let sum = 0
    let weightedSum = 0
    let count = 0
    for (const channel of channels) {
      const amount = channel.amounts[key] ?? 0
      const channelCount = channel.counts[key] ?? 0
      sum += amount
      weightedSum += amount * channelCount
      count += channelCount
    }
    const mean = count > 0 ? weightedSum / count : 0
    const isMean = getAggregation(key, selection.customAggregations) === 'mean'
    amounts[key] = isMean ? mean : sum
    counts[key] = count
  }
  return { amounts, counts }
}

/**
 * Converts totals to the fields of a response, rounded to six decimals. `ids` are the
 * ids of tracked objects.
 */
export function toStatistics({ amounts }: Totals, ids: readonly string[]): StatisticValues {
  const rounded = mapKeys(Object.keys(amounts), key => Number(amounts[key]!.toFixed(6)))
  // The API has this statistic under two names.
  const movingAverage = rounded[MOVING_AVERAGE]
  return {
    ...rounded,
    ...(movingAverage !== undefined && { moving_average: movingAverage }),
    ids: [...ids],
  }
}

/**
 * Returns the keys that must be read to compute statistics. The moving average is
 * computed from the occupancy.
 */
export function toStoredKeys(keys: readonly string[]): string[] {
  if (!keys.includes(MOVING_AVERAGE)) return [...keys]
  return [...new Set([...keys, OCCUPANCY, OCCUPANCY_AVERAGE])]
}

/**
 * Returns the keys whose latest value is the statistic, even if this value is older than the
 * bucket.
 */
export const filterLastValueKeys = (
  storedKeys: readonly string[],
  customAggregations: Aggregations = {},
) =>
  storedKeys.filter(
    key => key === OCCUPANCY_AVERAGE || getAggregation(key, customAggregations) === 'last',
  )

/** Returns an object with a value for each key. */
const mapKeys = (
  keys: readonly string[],
  toValue: (key: string) => number,
): Record<string, number> => Object.fromEntries(keys.map(key => [key, toValue(key)]))
