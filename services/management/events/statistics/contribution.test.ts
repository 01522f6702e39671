import type { OutputMessage } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { ChannelCounters } from './channel-counters.ts'
import {
  type ChannelCounting,
  type Contribution,
  computeContribution,
  countsVisits,
} from './contribution.ts'

const begin = Date.parse('2026-01-01T00:00:00Z')

type TestMessage = { event: object } | { count: object } | { state: string }

/** Returns the contributions of messages that are one second apart. */
const contribute = (...messages: TestMessage[]) => contributeWith({}, ...messages)

/** Returns the contributions for a usecase that defines keys of its own or counts visits. */
function contributeWith(
  usecase: Partial<Pick<ChannelCounting, 'customAggregations' | 'countsVisits'>>,
  ...messages: TestMessage[]
): (Contribution | undefined)[] {
  const counters = new ChannelCounters()
  return messages.map((message, second) => {
    const time = new Date(begin + 1000 * second).toISOString()
    const [kind, content] = Object.entries(message)[0]!
    const data = kind === 'state' ? { state: content } : content
    const counting = {
      counters,
      windowSeconds: 60,
      countsVisits: false,
      customAggregations: {},
      ...usecase,
    }
    return computeContribution({ kind, data, time } as OutputMessage, counting, () => {})
  })
}

describe('contribution of an event', () => {
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
    [{ type: 'zone-exit', dwell_time: Number.MAX_VALUE }, undefined],
  ])('of %j is %j', (event, added) => {
    expect(contribute({ event })).toEqual([added])
  })

  it('is empty if the channel counts the same key', () => {
    const event = { type: 'violation' }
    expect(
      contribute(
        { count: { distance: { violation: 0, non_violation: 0 } } },
        { event },
        { count: { distance: { violation: 2, non_violation: 0 } } },
      ),
    ).toEqual([undefined, undefined, { violation: 2 }])
  })

  it('is not added again by a counter that follows the first events', () => {
    expect(
      contribute(
        { event: { type: 'violation' } },
        { event: { type: 'violation' } },
        { event: { type: 'violation' } },
        { count: { distance: { violation: 2 } } },
        { event: { type: 'violation' } },
        { count: { distance: { violation: 5 } } },
      ),
    ).toEqual([
      { violation: 1 },
      { violation: 1 },
      { violation: 1 },
      undefined,
      undefined,
      { violation: 3 },
    ])
    const event = { type: 'collision' }
    expect(
      contribute(
        { event },
        { count: { road: { total_collision: 1 } } },
        { event },
        { count: { road: { total_collision: 2 } } },
      ).map(added => added?.total_collision),
    ).toEqual([1, 1, undefined, 2])
  })

  it('is not added to that of a counter without a name', () => {
    const event = { type: 'violation' }
    expect(
      contribute(
        { count: { '': { violation: 1 } } },
        { event },
        { count: { '': { violation: 2 } } },
      ),
    ).toEqual([{ violation: 1 }, undefined, { violation: 1 }])
  })

  it('includes totals since the start of the channel', () => {
    const event = { type: 'collision' }
    expect(contribute({ event }, { event }, { state: 'starting' }, { event })).toEqual([
      { frame_collision: 1, total_collision: 1 },
      { frame_collision: 1, total_collision: 2 },
      undefined,
      { frame_collision: 1, total_collision: 1 },
    ])
  })
})

describe('total', () => {
  it('counts visits in a usecase with an occupancy and without crossings', () => {
    expect(countsVisits(['occupancy', 'moving_average_count', 'dwell_time'])).toBe(true)
    expect(countsVisits(['up', 'down', 'total'])).toBe(false)
    expect(countsVisits(['occupancy', 'up', 'down'])).toBe(false)
  })

  it('keeps visits and crossings of the same name apart', () => {
    const gate = { name: 'gate', direction: 'up' }
    const messages = [
      { event: { type: 'line-crossing', ...gate } },
      { event: { type: 'zone-enter', ...gate } },
      { event: { type: 'dwell', dwell_time: 60, ...gate } },
      { event: { type: 'zone-exit', dwell_time: 61, ...gate } },
    ]
    const dwellTime = 61
    expect(contributeWith({ countsVisits: false }, ...messages)).toEqual([
      { up: 1, total: 1 },
      undefined,
      undefined,
      { dwell_time: dwellTime },
    ])
    expect(contributeWith({ countsVisits: true }, ...messages)).toEqual([
      { up: 1 },
      { total: 1 },
      undefined,
      { dwell_time: dwellTime },
    ])
  })
})

describe('contribution of a count', () => {
  it('is the growth of counters', () => {
    const added = contribute(
      { count: { distance: { violation: 3, non_violation: 0 } } },
      { count: { distance: { violation: 5, non_violation: 0 } } },
      { count: { distance: { violation: 5, non_violation: 0 } } },
      { count: { distance: { violation: 5, non_violation: 1 } } },
    )
    expect(added).toEqual([{ violation: 3 }, { violation: 2 }, undefined, { non_violation: 1 }])
  })

  it('is the whole value of a restarted counter, with or without a state message', () => {
    const first = { count: { distance: { violation: 3 } } }
    expect(contribute(first, { count: { distance: { violation: 1 } } })[1]).toEqual({
      violation: 1,
    })
    expect(contribute(first, { state: 'starting' }, first)[2]).toEqual({ violation: 3 })
  })

  it('includes the occupancy of all zones when only some have changed', () => {
    const occupancy = contribute(
      { count: { door: { occupancy: 2, total: 9 }, hall: { occupancy: 5, dwell_time: 3 } } },
      { count: { door: { occupancy: 1 } } },
    ).map(added => added?.occupancy)
    expect(occupancy).toEqual([7, 6])
  })

  it('excludes crossings and visits, which are computed from events', () => {
    expect(contribute({ count: { gate: { up: 1, down: 2, total: 3, dwell_time: 4 } } })).toEqual([
      undefined,
    ])
  })

  it('includes a moving average that follows the occupancy', () => {
    const averages = contribute(
      { count: { hall: { occupancy: 0 } } },
      { count: { hall: { occupancy: 10 } } },
      { count: { hall: { occupancy: 10 } } },
    ).map(added => added?.occupancy_average)
    expect(averages.slice(0, 2)).toEqual([0, 0])
    expect(averages[2]).toBeCloseTo(10 * (1 - Math.exp(-1 / 60)), 10)
  })
})

describe('contribution to the key of a plugin', () => {
  const customAggregations = { waiting: 'last', served: 'sum', speed: 'mean' } as const
  const own = { customAggregations }

  it('is the latest value, the growth or the mean of counters', () => {
    expect(
      contributeWith(
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

  it('is computed from events of the same name and their values when nothing is counted', () => {
    expect(
      contributeWith(
        { customAggregations: { ...customAggregations, left_behind: 'sum' } },
        { event: { type: 'left-behind', speed: 3 } },
        { event: { type: 'waiting' } },
        { event: { type: 'waiting' } },
        { count: { desk: { served: 1 } } },
        { event: { type: 'served' } },
      ),
    ).toEqual([
      { left_behind: 1, speed: 3 },
      { waiting: 1 },
      { waiting: 2 },
      { served: 1 },
      undefined,
    ])
  })

  it('is added to the built-in keys', () => {
    expect(
      contributeWith(
        { customAggregations: { crossings: 'sum' } },
        { event: { type: 'line-crossing' } },
      ),
    ).toEqual([{ total: 1 }])
    expect(
      contributeWith(
        { customAggregations: { fire_size: 'mean' } },
        { event: { type: 'fire', fire_size: 2 } },
      ),
    ).toEqual([{ fire: 1, fire_size: 2 }])
  })
})

describe('contribution of values that the database could not store', () => {
  it('is empty for values without a meaning, whose sum would exceed the largest number', () => {
    const huge = { occupancy: Number.MAX_VALUE, fire: -Number.MAX_VALUE }
    expect(contribute({ count: { hall: huge } })).toEqual([undefined])
    const mean = contributeWith(
      { customAggregations: { speed: 'mean' } },
      { count: { hall: { speed: 4 }, yard: { speed: Number.MAX_VALUE } } },
      { event: { type: 'passed', speed: Number.MAX_VALUE } },
    )
    expect(mean).toEqual([{ speed: 4 }, undefined])
  })

  it('is empty for counters whose names are too long', () => {
    expect(contribute({ count: { ['x'.repeat(501)]: { fire: 1 } } })).toEqual([undefined])
    expect(contribute({ count: { ['x'.repeat(500)]: { fire: 1 } } })).toEqual([{ fire: 1 }])
  })
})
