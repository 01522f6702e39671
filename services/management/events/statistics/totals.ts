import {
  type Aggregations,
  getAggregation,
  type StatisticKey,
  type Statistics,
  statisticKeys,
} from '@eyrie/contract/management/statistic'
import { advanceMovingAverage, OCCUPANCY_AVERAGE } from './contribution.ts'

/** The values of one key within a bucket. */
export interface Aggregate {
  sum: number
  count: number
  /** The latest value, which may be older than the bucket. */
  last: number
  /** Time of the latest value, epoch ms. */
  lastAt: number
}

/** By key. */
export type Aggregates = ReadonlyMap<string, Aggregate>

/** The statistics of one channel or of several, before rounding. */
export interface Totals {
  /** Of all statistics fields, and of the requested keys that only the usecase has. */
  amounts: Record<StatisticKey, number> & Record<string, number>
  /** Number of values per key. */
  counts: Record<string, number>
}

/**
 * Computes the statistics of a channel within a bucket that ends at `endMs` (epoch ms). A statistic without values is 0.
 * @param seconds length of the window of the moving average.
 * @param own keys that only the usecase has.
 */
export function computeTotals(
  aggregates: Aggregates,
  keys: readonly string[],
  endMs: number,
  seconds: number,
  own: Aggregations = {},
): Totals {
  function computeAmount(key: string): number {
    const aggregate = aggregates.get(key)
    if (key === 'moving_average_count')
      return aggregate?.last ?? computeMovingAverage(aggregates, endMs, seconds)
    if (!aggregate) return 0
    const { sum, count, last } = aggregate
    switch (getAggregation(key, own)) {
      case 'sum':
        return sum
      case 'mean':
        return count > 0 ? sum / count : 0
      case 'last':
        return last
    }
  }
  const allKeys = [...new Set([...statisticKeys, ...keys])]
  return {
    amounts: mapKeys(allKeys, key => (keys.includes(key) ? computeAmount(key) : 0)),
    counts: mapKeys(allKeys, key => aggregates.get(key)?.count ?? 0),
  }
}

const mapKeys = (keys: readonly string[], toValue: (key: string) => number) =>
  Object.fromEntries(keys.map(key => [key, toValue(key)])) as Totals['amounts']

/** Advances the stored moving average to the end of the bucket. */
function computeMovingAverage(aggregates: Aggregates, endMs: number, seconds: number): number {
  const average = aggregates.get(OCCUPANCY_AVERAGE)
  const occupancy = aggregates.get('occupancy')
  if (!average || !occupancy) return 0
  return advanceMovingAverage(average.last, occupancy.last, endMs - average.lastAt, seconds)
}

/** Adds up the statistics of channels. A mean is weighted by the number of values. */
export function combineTotals(channels: readonly Totals[], own: Aggregations = {}): Totals {
  const channelKeys = channels.flatMap(({ amounts }) => Object.keys(amounts))
  const allKeys = [...new Set([...statisticKeys, ...channelKeys])]
  const sumOver = (toValue: (totals: Totals) => number | undefined) =>
    channels.reduce((sum, totals) => sum + (toValue(totals) ?? 0), 0)

  const counts = mapKeys(allKeys, key => sumOver(totals => totals.counts[key]))
  const amounts = mapKeys(allKeys, key => {
    if (getAggregation(key, own) !== 'mean') return sumOver(totals => totals.amounts[key])
    const weighted = sumOver(totals => totals.amounts[key]! * totals.counts[key]!)
    return counts[key] ? weighted / counts[key] : 0
  })
  return { amounts, counts }
}

/** Converts totals to the fields of a response, rounded to six decimals. */
export function toStatistics({ amounts }: Totals, ids: readonly string[]): Statistics {
  const rounded = mapKeys(Object.keys(amounts), key => Number(amounts[key]!.toFixed(6)))
  return { ...rounded, moving_average: rounded.moving_average_count, ids: [...ids] }
}

/** Returns the keys under which the values of statistics are stored. */
export function toStoredKeys(keys: readonly string[]): string[] {
  if (!keys.includes('moving_average_count')) return [...keys]
  return [...new Set([...keys, 'occupancy', OCCUPANCY_AVERAGE])]
}

/** Returns the keys whose latest value is the statistic, even when it is older than the bucket. */
export const filterLastValueKeys = (storedKeys: readonly string[], own: Aggregations = {}) =>
  storedKeys.filter(key => key === OCCUPANCY_AVERAGE || getAggregation(key, own) === 'last')
