import {
  type Aggregations,
  getAggregation,
  type StatisticKey,
  type Statistics,
  statisticKeys,
} from '@eyrie/contract/management/statistic'
import { movedAverage, occupancyAverage } from './contribution.ts'

/** What was added under a key within a bucket of time. */
export interface Aggregate {
  sum: number
  count: number
  /** The newest value; it may be from before the bucket. */
  last: number
  /** Epoch ms. */
  lastAt: number
}

/** By key. */
export type Aggregates = ReadonlyMap<string, Aggregate>

/** Statistics of one channel, or of several together, before they are rounded into fields. */
export interface Totals {
  /** Of all fields, and of the usecase's own keys that were asked for. */
  amounts: Record<StatisticKey, number> & Record<string, number>
  /** Of how many values each of them is made. */
  counts: Record<string, number>
}

/**
 * The statistics of a channel within a bucket that ends at a moment, epoch ms. What there was nothing to tell from is 0.
 * @param seconds over which the moving average is taken.
 * @param own keys that the usecase has of its own.
 */
export function totalsOf(
  aggregates: Aggregates,
  keys: readonly string[],
  end: number,
  seconds: number,
  own: Aggregations = {},
): Totals {
  const amount = (key: string) => {
    const found = aggregates.get(key)
    if (key === 'moving_average_count') return found?.last ?? averageAt(aggregates, end, seconds)
    if (!found) return 0
    return { sum: found.sum, mean: found.count > 0 ? found.sum / found.count : 0, last: found.last }[
      getAggregation(key, own)
    ]
  }
  const all = [...new Set([...statisticKeys, ...keys])]
  return {
    amounts: byKey(all, key => (keys.includes(key) ? amount(key) : 0)),
    counts: byKey(all, key => aggregates.get(key)?.count ?? 0),
  }
}

const byKey = (keys: readonly string[], value: (key: string) => number) =>
  Object.fromEntries(keys.map(key => [key, value(key)])) as Totals['amounts']

/** Since it was stored the moving average has gone on towards the occupancy. */
function averageAt(aggregates: Aggregates, end: number, seconds: number): number {
  const [average, occupancy] = [aggregates.get(occupancyAverage), aggregates.get('occupancy')]
  if (!average || !occupancy) return 0
  return movedAverage(average.last, occupancy.last, end - average.lastAt, seconds)
}

/** Channels together: everything is added, but a mean is weighted by what it is of. */
export function together(channels: readonly Totals[], own: Aggregations = {}): Totals {
  const all = [...new Set([...statisticKeys, ...channels.flatMap(({ amounts }) => Object.keys(amounts))])]
  const added = (of: (each: Totals) => number | undefined) =>
    channels.reduce((total, each) => total + (of(each) ?? 0), 0)
  const counts = byKey(all, key => added(each => each.counts[key]))
  const mean = (key: string) =>
    counts[key] ? added(({ amounts, counts }) => amounts[key]! * counts[key]!) / counts[key] : 0
  const amounts = byKey(all, key =>
    getAggregation(key, own) === 'mean' ? mean(key) : added(({ amounts }) => amounts[key]),
  )
  return { amounts, counts }
}

/** The fields of an answer; digits that only arithmetic has put there are left out. */
export function fieldsOf({ amounts }: Totals, ids: readonly string[]): Statistics {
  const rounded = byKey(Object.keys(amounts), key => Number(amounts[key]!.toFixed(6)))
  return { ...rounded, moving_average: rounded.moving_average_count, ids: [...ids] }
}

/** Under which keys the amounts of statistics are stored. */
export function storedKeysOf(keys: readonly string[]): string[] {
  return keys.includes('moving_average_count')
    ? [...new Set([...keys, 'occupancy', occupancyAverage])]
    : [...keys]
}

/** Of these, those whose newest value counts, though it be from before. */
export const standingKeys = (stored: readonly string[], own: Aggregations = {}) =>
  stored.filter(key => key === occupancyAverage || getAggregation(key, own) === 'last')
