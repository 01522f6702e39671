import type { Aggregation } from '@eyrie/contract/management/statistic'
import { occupancyAverage } from '../events/statistics/contribution.ts'

/** What a statistic of a window is made of. */
export interface Material {
  sum: number
  count: number
  /** The newest value, of this window or before it; undefined: there was none yet. */
  last: number | undefined
}

/** The statistic that an alert compares; undefined where there is nothing to tell it from. */
export function statisticOf(aggregation: Aggregation, { sum, count, last }: Material): number | undefined {
  switch (aggregation) {
    case 'sum':
      return sum
    case 'mean':
      return count > 0 ? sum / count : undefined
    case 'last':
      return last
  }
}

/** Under which keys the amounts of a statistic are stored; the first that is there counts. */
export const storedKeys = (key: string): string[] =>
  key === 'moving_average_count' ? [key, occupancyAverage] : [key]
