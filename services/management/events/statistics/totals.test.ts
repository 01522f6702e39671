import { aggregations, type StatisticKey, statisticKeys } from '@eyrie/contract/management/statistic'
import { describe, expect, it } from 'vitest'
import { type Aggregate, fieldsOf, standingKeys, storedKeysOf, together, totalsOf } from './totals.ts'

const end = Date.parse('2026-03-04T12:00:00Z')
const aggregate = (sum: number, count: number, last = sum, lastAt = end): Aggregate => ({
  sum,
  count,
  last,
  lastAt,
})
const totals = (given: Record<string, Aggregate>, keys: readonly StatisticKey[] = statisticKeys) =>
  totalsOf(new Map(Object.entries(given)), keys, end, 60)

describe('the statistics of a channel', () => {
  it('are sums, means and newest values, each as its key has it', () => {
    const given = Object.fromEntries(statisticKeys.map(key => [key, aggregate(12, 4, 7)]))
    const expected = Object.fromEntries(
      statisticKeys.map(key => [key, { sum: 12, mean: 3, last: 7 }[aggregations[key]]]),
    )
    expect(totals(given).amounts).toEqual(expected)
  })

  it('are 0 where there is nothing to tell them from, and where they were not asked for', () => {
    expect(Object.values(totals({}).amounts)).toEqual(statisticKeys.map(() => 0))
    expect(totals({ up: aggregate(3, 3), down: aggregate(2, 2) }, ['up']).amounts).toMatchObject({
      up: 3,
      down: 0,
    })
  })

  it('bring the moving average up to the end', () => {
    const before = end - 60_000
    const { amounts } = totals({
      occupancy: aggregate(0, 0, 10, before),
      occupancy_average: aggregate(0, 0, 0, before),
    })
    expect(amounts.moving_average_count).toBeCloseTo(10 * (1 - 1 / Math.E), 10)
  })

  it('take the moving average of an element that counts its own', () => {
    const { amounts } = totals({
      moving_average_count: aggregate(0, 1, 3),
      occupancy_average: aggregate(0, 1, 9),
    })
    expect(amounts.moving_average_count).toBe(3)
  })
})

describe('the statistics of channels together', () => {
  it('are added, but the time of a visit is weighted by visits', () => {
    const [hall, door] = [
      totals({ up: aggregate(3, 3), occupancy: aggregate(0, 0, 4), dwell_time: aggregate(90, 9) }),
      totals({ up: aggregate(2, 2), occupancy: aggregate(0, 0, 5), dwell_time: aggregate(20, 1) }),
    ]
    expect(together([hall, door]).amounts).toMatchObject({ up: 5, occupancy: 9, dwell_time: 11 })
  })

  it('are so of keys that the usecase has of its own', () => {
    const own = { waiting: 'last', served: 'sum', speed: 'mean' } as const
    const keys = Object.keys(own)
    const channel = (given: Record<string, Aggregate>) =>
      totalsOf(new Map(Object.entries(given)), keys, end, 60, own)
    const both = together(
      [
        channel({ waiting: aggregate(9, 3, 2), served: aggregate(5, 2), speed: aggregate(30, 3) }),
        channel({ waiting: aggregate(9, 3, 4), served: aggregate(1, 1), speed: aggregate(50, 1) }),
        channel({}),
      ],
      own,
    )
    expect(both.amounts).toMatchObject({ waiting: 6, served: 6, speed: 20, up: 0 })
    expect(fieldsOf(both, [])).toMatchObject({ waiting: 6, served: 6, speed: 20, up: 0 })
  })

  it('of no channels are 0', () => {
    expect(Object.values(together([]).amounts)).toEqual(statisticKeys.map(() => 0))
  })
})

it('fields leave out the digits that only arithmetic has put there', () => {
  const { dwell_time, moving_average, ids } = fieldsOf(totals({ dwell_time: aggregate(0.1 + 0.2, 1) }), ['7'])
  expect([dwell_time, moving_average, ids]).toEqual([0.3, 0, ['7']])
})

it('the moving average is made of what is stored of the occupancy', () => {
  const stored = storedKeysOf(['moving_average_count', 'up'])
  expect(stored).toEqual(['moving_average_count', 'up', 'occupancy', 'occupancy_average'])
  expect(standingKeys(stored)).toEqual(['moving_average_count', 'occupancy', 'occupancy_average'])
})
