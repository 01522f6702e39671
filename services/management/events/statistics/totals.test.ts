import {
  BUILT_IN_AGGREGATIONS,
  BUILT_IN_STATISTIC_KEYS,
} from '@eyrie/contract/management/statistic'
import { describe, expect, it } from 'vitest'
import {
  type Aggregate,
  combineTotals,
  computeTotals,
  filterLastValueKeys,
  type StatisticSelection,
  toStatistics,
  toStoredKeys,
} from './totals.ts'

const endMs = Date.parse('2026-03-04T12:00:00Z')
const aggregate = (sum: number, count: number, last = sum, lastAt = endMs): Aggregate => ({
  sum,
  count,
  last,
  lastAt,
})
const select = (selection: Partial<StatisticSelection> = {}): StatisticSelection => ({
  ...{
    keys: BUILT_IN_STATISTIC_KEYS,
    availableKeys: BUILT_IN_STATISTIC_KEYS,
    customAggregations: {},
  },
  ...selection,
})
const compute = (
  aggregates: Record<string, Aggregate>,
  selection: Partial<StatisticSelection> = {},
) => computeTotals(new Map(Object.entries(aggregates)), select(selection), endMs, 60)

describe('computeTotals', () => {
  it('computes the sum, mean or latest value, depending on the key', () => {
    const aggregates = Object.fromEntries(
      BUILT_IN_STATISTIC_KEYS.map(key => [key, aggregate(12, 4, 7)]),
    )
    const expected = Object.fromEntries(
      BUILT_IN_STATISTIC_KEYS.map(key => [
        key,
        { sum: 12, mean: 3, last: 7 }[BUILT_IN_AGGREGATIONS[key]],
      ]),
    )
    expect(compute(aggregates).amounts).toEqual(expected)
  })

  it('returns 0 for statistics of the usecase without values', () => {
    expect(Object.values(compute({}).amounts)).toEqual(BUILT_IN_STATISTIC_KEYS.map(() => 0))
  })

  it('omits statistics that were not requested', () => {
    const aggregates = { up: aggregate(3, 3), down: aggregate(2, 2) }
    expect(compute(aggregates, { keys: ['up'] }).amounts).toEqual({ up: 3 })
  })

  it('omits statistics that the usecase does not have, unless there are values', () => {
    const availableKeys = ['up', 'down']
    expect(compute({ up: aggregate(3, 3) }, { availableKeys }).amounts).toEqual({
      alert: 0,
      up: 3,
      down: 0,
    })
    expect(compute({ fire: aggregate(1, 1) }, { availableKeys }).amounts).toMatchObject({
      fire: 1,
      up: 0,
    })
    expect(
      compute({ occupancy_average: aggregate(0, 0) }, { availableKeys }).amounts,
    ).toHaveProperty('moving_average_count')
  })

  it('advances the moving average to the end of the bucket', () => {
    const before = endMs - 60_000
    const { amounts } = compute({
      occupancy: aggregate(0, 0, 10, before),
      occupancy_average: aggregate(0, 0, 0, before),
    })
    expect(amounts.moving_average_count).toBeCloseTo(10 * (1 - 1 / Math.E), 10)
  })

  it('prefers the moving average that an element counts', () => {
    const { amounts } = compute({
      moving_average_count: aggregate(0, 1, 3),
      occupancy_average: aggregate(0, 1, 9),
    })
    expect(amounts.moving_average_count).toBe(3)
  })
})

describe('combineTotals', () => {
  it('adds up statistics and weights the dwell time by the number of visits', () => {
    const [hall, door] = [
      compute({ up: aggregate(3, 3), occupancy: aggregate(0, 0, 4), dwell_time: aggregate(90, 9) }),
      compute({ up: aggregate(2, 2), occupancy: aggregate(0, 0, 5), dwell_time: aggregate(20, 1) }),
    ]
    expect(combineTotals([hall, door], select()).amounts).toMatchObject({
      up: 5,
      occupancy: 9,
      dwell_time: 11,
    })
  })

  it('combines the keys that the usecase defines itself', () => {
    const own = { waiting: 'last', served: 'sum', speed: 'mean' } as const
    const keys = Object.keys(own)
    const selection = { keys, availableKeys: keys, customAggregations: own }
    const channel = (aggregates: Record<string, Aggregate>) => compute(aggregates, selection)
    const both = combineTotals(
      [
        channel({ waiting: aggregate(9, 3, 2), served: aggregate(5, 2), speed: aggregate(30, 3) }),
        channel({ waiting: aggregate(9, 3, 4), served: aggregate(1, 1), speed: aggregate(50, 1) }),
        channel({}),
      ],
      selection,
    )
    expect(both.amounts).toEqual({ waiting: 6, served: 6, speed: 20 })
    expect(toStatistics(both, [])).toEqual({ waiting: 6, served: 6, speed: 20, ids: [] })
  })

  it('combines channels of which only some report a statistic', () => {
    const selection = { availableKeys: ['up'] }
    const channels = [compute({ dwell_time: aggregate(8, 2) }, selection), compute({}, selection)]
    expect(combineTotals(channels, select(selection)).amounts).toEqual({
      alert: 0,
      up: 0,
      dwell_time: 4,
    })
  })

  it('returns 0 for the statistics of the usecase without channels', () => {
    expect(combineTotals([], select({ availableKeys: ['up'] })).amounts).toEqual({
      alert: 0,
      up: 0,
    })
  })
})

describe('toStatistics', () => {
  it('rounds the errors of floating-point arithmetic', () => {
    const {
      dwell_time: dwellTime,
      moving_average: movingAverage,
      ids,
    } = toStatistics(compute({ dwell_time: aggregate(0.1 + 0.2, 1) }), ['7'])
    expect([dwellTime, movingAverage, ids]).toEqual([0.3, 0, ['7']])
  })
})

describe('toStoredKeys', () => {
  it('adds the keys of the occupancy for the moving average', () => {
    const stored = toStoredKeys(['moving_average_count', 'up'])
    expect(stored).toEqual(['moving_average_count', 'up', 'occupancy', 'occupancy_average'])
    expect(filterLastValueKeys(stored)).toEqual([
      'moving_average_count',
      'occupancy',
      'occupancy_average',
    ])
  })
})
