import type { OutputMessage } from '@eyrie/contract'
import type { Aggregations } from '@eyrie/contract/management/statistic'
import { describe, expect, it } from 'vitest'
import { ChannelCounters } from './channel-counters.ts'
import { type Contribution, contributionOf } from './contribution.ts'

const begin = Date.parse('2026-01-01T00:00:00Z')

type Told = { event: object } | { count: object } | { state: string }

/** What each message of a channel adds, a second apart. */
const contributions = (...told: Told[]) => contributionsTo({}, ...told)

/** The same where the usecase has keys of its own. */
function contributionsTo(own: Aggregations, ...told: Told[]): (Contribution | undefined)[] {
  const counters = new ChannelCounters()
  return told.map((one, second) => {
    const time = new Date(begin + 1000 * second).toISOString()
    const [kind, content] = Object.entries(one)[0]!
    const data = kind === 'state' ? { state: content } : content
    return contributionOf({ kind, data, time } as OutputMessage, { counters, seconds: 60, own })
  })
}

describe('an event adds to statistics', () => {
  it.each([
    [
      { type: 'line-crossing', direction: 'up' },
      { up: 1, total: 1 },
    ],
    [
      { type: 'line-crossing', direction: 'down' },
      { down: 1, total: 1 },
    ],
    [{ type: 'zone-exit', dwell_time: 12.5 }, { dwell_time: 12.5 }],
    [{ type: 'zone-enter' }, undefined],
    [{ type: 'violation' }, { violation: 1 }],
    [{ type: 'fire' }, { fire: 1 }],
    [{ type: 'smoke' }, { low_smoke: 1 }],
    [{ type: 'smoke', level: 'intermediate' }, { intermediate_smoke: 1 }],
    [{ type: 'smoke', level: 'high' }, { high_smoke: 1 }],
    [{ type: 'high-smoke' }, { high_smoke: 1 }],
    [{ type: 'collision' }, { frame_collision: 1, total_collision: 1 }],
    [{ type: 'near-miss' }, { frame_near_miss: 1, total_near_miss: 1 }],
    [{ type: 'a-plugin-of-its-own' }, undefined],
  ])('%j: %j', (event, added) => {
    expect(contributions({ event })).toEqual([added])
  })

  it('unless the channel counts the same, which is more exact', () => {
    const event = { type: 'violation' }
    expect(
      contributions(
        { count: { distance: { violation: 0, non_violation: 0 } } },
        { event },
        { count: { distance: { violation: 2, non_violation: 0 } } },
      ),
    ).toEqual([undefined, undefined, { violation: 2 }])
  })

  it('with totals that run since the channel began', () => {
    const event = { type: 'collision' }
    expect(contributions({ event }, { event }, { state: 'starting' }, { event })).toEqual([
      { frame_collision: 1, total_collision: 1 },
      { frame_collision: 1, total_collision: 2 },
      undefined,
      { frame_collision: 1, total_collision: 1 },
    ])
  })
})

describe('a count adds to statistics', () => {
  it('what counters have grown by', () => {
    const added = contributions(
      { count: { distance: { violation: 3, non_violation: 0 } } },
      { count: { distance: { violation: 5, non_violation: 0 } } },
      { count: { distance: { violation: 5, non_violation: 0 } } },
      { count: { distance: { violation: 5, non_violation: 1 } } },
    )
    expect(added).toEqual([{ violation: 3 }, { violation: 2 }, undefined, { non_violation: 1 }])
  })

  it('what a counter says that has begun again, with word of it or without', () => {
    const first = { count: { distance: { violation: 3 } } }
    expect(contributions(first, { count: { distance: { violation: 1 } } })[1]).toEqual({ violation: 1 })
    expect(contributions(first, { state: 'starting' }, first)[2]).toEqual({ violation: 3 })
  })

  it('the occupancy of all zones, though it tells only of those that changed', () => {
    const occupancy = contributions(
      { count: { door: { occupancy: 2, total: 9 }, hall: { occupancy: 5, dwell_time: 3 } } },
      { count: { door: { occupancy: 1 } } },
    ).map(added => added?.occupancy)
    expect(occupancy).toEqual([7, 6])
  })

  it('no crossings and no visits, since their events tell of them', () => {
    expect(contributions({ count: { gate: { up: 1, down: 2, total: 3, dwell_time: 4 } } })).toEqual([
      undefined,
    ])
  })

  it('a moving average that follows the occupancy within the time it is taken over', () => {
    const averages = contributions(
      { count: { hall: { occupancy: 0 } } },
      { count: { hall: { occupancy: 10 } } },
      { count: { hall: { occupancy: 10 } } },
    ).map(added => added?.occupancy_average)
    expect(averages.slice(0, 2)).toEqual([0, 0])
    expect(averages[2]).toBeCloseTo(10 * (1 - Math.exp(-1 / 60)), 10)
  })
})

describe('a key that a plugin brings', () => {
  const own = { waiting: 'last', served: 'sum', speed: 'mean' } as const

  it('takes the newest values, the growth and the mean of what is counted', () => {
    expect(
      contributionsTo(
        own,
        { count: { left: { waiting: 3, served: 4, speed: 10 }, right: { waiting: 1, speed: 20 } } },
        { count: { left: { waiting: 2, served: 6, unknown: 9 } } },
        { state: 'starting' },
        { count: { left: { waiting: 1, served: 1 } } },
      ),
    ).toEqual([
      { waiting: 4, served: 4, speed: 15 },
      { waiting: 3, served: 2 },
      undefined,
      { waiting: 1, served: 1 },
    ])
  })

  it('takes events of its name where nothing is counted, and their values', () => {
    expect(
      contributionsTo(
        { ...own, left_behind: 'sum' },
        { event: { type: 'left-behind', speed: 3 } },
        { event: { type: 'waiting' } },
        { event: { type: 'waiting' } },
        { count: { desk: { served: 1 } } },
        { event: { type: 'served' } },
      ),
    ).toEqual([{ left_behind: 1, speed: 3 }, { waiting: 1 }, { waiting: 2 }, { served: 1 }, undefined])
  })

  it('stands beside what everybody knows', () => {
    expect(contributionsTo({ crossings: 'sum' }, { event: { type: 'line-crossing' } })).toEqual([
      { total: 1 },
    ])
    expect(contributionsTo({ fire_size: 'mean' }, { event: { type: 'fire', fire_size: 2 } })).toEqual([
      { fire: 1, fire_size: 2 },
    ])
  })
})
