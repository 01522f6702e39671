import type { OutputMessage } from '@eyrie/contract'
import type { StatisticKey } from '@eyrie/contract/management/statistic'
import type { ChannelCounters } from './counters.ts'
import { movedAverage } from './moving-average.ts'

/** What a message adds to its channel's statistics, by key. */
export type Contribution = Record<string, number>

/** Kept beside `occupancy`, and brought up to the moment when it is read. */
export const occupancyAverage = 'occupancy_average'

/** Counters that only grow while a channel runs: what they have grown by is what happened. */
const growing: readonly StatisticKey[] = [
  'violation',
  'non_violation',
  'fire',
  'high_smoke',
  'intermediate_smoke',
  'low_smoke',
  'frame_collision',
  'frame_near_miss',
]

/** Counters whose newest value counts. */
const standing: readonly StatisticKey[] = ['moving_average_count', 'total_collision', 'total_near_miss']

/** The key that an event adds one to, by its type; `smoke` goes by its level. */
const happenings: Readonly<Record<string, StatisticKey>> = {
  violation: 'violation',
  'non-violation': 'non_violation',
  fire: 'fire',
  smoke: 'low_smoke',
  'low-smoke': 'low_smoke',
  'intermediate-smoke': 'intermediate_smoke',
  'high-smoke': 'high_smoke',
  collision: 'frame_collision',
  'near-miss': 'frame_near_miss',
}

/** The total since the channel began that goes with an event. */
const running: Partial<Record<StatisticKey, StatisticKey>> = {
  frame_collision: 'total_collision',
  frame_near_miss: 'total_near_miss',
}

const smokeLevels: Readonly<Record<string, StatisticKey>> = {
  low: 'low_smoke',
  intermediate: 'intermediate_smoke',
  high: 'high_smoke',
}

/**
 * What a message adds to its channel's statistics; undefined: nothing. Brings the channel's counters up to the message.
 * What a channel counts is taken from its counters, what it does not count from its events: never from both.
 * @param seconds over which the moving average is taken.
 */
export function contributionOf(
  message: Pick<OutputMessage, 'kind' | 'data' | 'time'>,
  counters: ChannelCounters,
  seconds: number,
): Contribution | undefined {
  const at = Date.parse(message.time)
  const { kind, data } = message as OutputMessage
  if (kind === 'event') return ofEvent(data, counters, at)
  if (kind === 'count') return ofCount(data, counters, at, seconds)
  if (kind === 'state' && data.state === 'starting') counters.clear()
  return undefined
}

type EventData = Extract<OutputMessage, { kind: 'event' }>['data']
type CountData = Extract<OutputMessage, { kind: 'count' }>['data']

function ofEvent(data: EventData, counters: ChannelCounters, at: number): Contribution | undefined {
  if (data.type === 'line-crossing') {
    const { direction } = data
    return direction === 'up' || direction === 'down' ? { [direction]: 1, total: 1 } : { total: 1 }
  }
  if (data.type === 'zone-exit')
    return typeof data.dwell_time === 'number' ? { dwell_time: data.dwell_time } : undefined
  const key = (data.type === 'smoke' && smokeLevels[String(data.level)]) || happenings[data.type]
  if (!key) return undefined
  const added: Contribution = counters.counts(key) ? {} : { [key]: 1 }
  const total = running[key]
  if (total && counters.get('', total) === undefined && counters.counts(total)) return whole(added)
  if (total) {
    const value = (counters.get('', total)?.value ?? 0) + 1
    counters.set('', total, { value, at })
    added[total] = value
  }
  return whole(added)
}

function ofCount(
  data: CountData,
  counters: ChannelCounters,
  at: number,
  seconds: number,
): Contribution | undefined {
  const added: Contribution = {}
  const before = counters.total('occupancy') ?? 0
  for (const [name, counter] of Object.entries(data)) {
    for (const [key, value] of Object.entries(counter)) {
      if (isOf(growing, key)) {
        const earlier = counters.get(name, key)?.value ?? 0
        added[key] = (added[key] ?? 0) + (value >= earlier ? value - earlier : value)
      }
      if (isOf(growing, key) || isOf(standing, key) || key === 'occupancy')
        counters.set(name, key, { value, at })
      if (isOf(standing, key)) added[key] = counters.total(key)!
      if (key === 'occupancy') added[key] = counters.total(key)!
    }
  }
  if (added.occupancy !== undefined) {
    const average = counters.get('', occupancyAverage)
    const value = average ? movedAverage(average.value, before, at - average.at, seconds) : added.occupancy
    counters.set('', occupancyAverage, { value, at })
    added[occupancyAverage] = value
  }
  return whole(added)
}

const isOf = (keys: readonly StatisticKey[], key: string) => (keys as readonly string[]).includes(key)

const whole = (added: Contribution) => (Object.keys(added).length > 0 ? added : undefined)
