import {
  aggregations,
  type StatisticKey,
  type Statistics,
  statisticKeys,
} from '@eyrie/contract/management/statistic'
import { occupancyAverage } from './contribution.ts'
import { movedAverage } from './moving-average.ts'

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
  amounts: Record<StatisticKey, number>
  /** Of how many visits `dwell_time` is the mean. */
  visits: number
}

/**
 * The statistics of a channel within a bucket that ends at a moment, epoch ms. What there was nothing to tell from is 0.
 * @param seconds over which the moving average is taken.
 */
export function totalsOf(
  aggregates: Aggregates,
  keys: readonly StatisticKey[],
  end: number,
  seconds: number,
): Totals {
  const amount = (key: StatisticKey) => {
    const found = aggregates.get(key)
    if (key === 'moving_average_count') return found?.last ?? averageAt(aggregates, end, seconds)
    if (!found) return 0
    return { sum: found.sum, mean: found.count > 0 ? found.sum / found.count : 0, last: found.last }[
      aggregations[key]
    ]
  }
  const amounts = statisticKeys.map(key => [key, keys.includes(key) ? amount(key) : 0])
  return { amounts: Object.fromEntries(amounts), visits: aggregates.get('dwell_time')?.count ?? 0 }
}

/** Since it was stored the moving average has gone on towards the occupancy. */
function averageAt(aggregates: Aggregates, end: number, seconds: number): number {
  const [average, occupancy] = [aggregates.get(occupancyAverage), aggregates.get('occupancy')]
  if (!average || !occupancy) return 0
  return movedAverage(average.last, occupancy.last, end - average.lastAt, seconds)
}

/** Channels together: everything is added, but a mean is weighted by what it is of. */
export function together(channels: readonly Totals[]): Totals {
  const visits = channels.reduce((sum, each) => sum + each.visits, 0)
  const sum = (key: StatisticKey) => channels.reduce((total, { amounts }) => total + amounts[key], 0)
  const mean = (key: StatisticKey) =>
    visits === 0 ? 0 : channels.reduce((total, each) => total + each.amounts[key] * each.visits, 0) / visits
  const amounts = statisticKeys.map(key => [key, aggregations[key] === 'mean' ? mean(key) : sum(key)])
  return { amounts: Object.fromEntries(amounts), visits }
}

/** The fields of an answer; digits that only arithmetic has put there are left out. */
export function fieldsOf({ amounts }: Totals, ids: readonly string[]): Statistics {
  const rounded = Object.fromEntries(
    statisticKeys.map(key => [key, Number(amounts[key].toFixed(6))]),
  ) as Totals['amounts']
  return { ...rounded, moving_average: rounded.moving_average_count, ids: [...ids] }
}

/** Under which keys the amounts of statistics are stored. */
export function storedKeysOf(keys: readonly StatisticKey[]): string[] {
  return keys.includes('moving_average_count')
    ? [...new Set([...keys, 'occupancy', occupancyAverage])]
    : [...keys]
}

/** Of these, those whose newest value counts, though it be from before. */
export const standingKeys = (stored: readonly string[]) =>
  stored.filter(key => key === occupancyAverage || aggregations[key as StatisticKey] === 'last')
