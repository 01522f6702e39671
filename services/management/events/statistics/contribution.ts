import type { OutputMessage } from '@eyrie/contract'
import type { Aggregation, Aggregations, StatisticKey } from '@eyrie/contract/management/statistic'
import type { ChannelCounters } from './channel-counters.ts'

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

/** What there is to know of a channel. */
export interface Counting {
  counters: ChannelCounters
  /** Over which the moving average is taken. */
  seconds: number
  /** Keys that its usecase has of its own. */
  own: Aggregations
}

/**
 * What a message adds to its channel's statistics; undefined: nothing. Brings the channel's counters up to the message.
 * What a channel counts is taken from its counters, what it does not count from its events: never from both.
 */
export function contributionOf(
  message: Pick<OutputMessage, 'kind' | 'data' | 'time'>,
  counting: Counting,
): Contribution | undefined {
  const at = Date.parse(message.time)
  const { kind, data } = message as OutputMessage
  const { counters, own } = counting
  if (kind === 'event')
    return whole({ ...ofEvent(data, counters, at), ...ofOwnEvent(data, counters, at, own) })
  if (kind === 'count') return ofCount(data, counting, at)
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

/** What a plugin has its own keys for. */
function ofOwnEvent(data: EventData, counters: ChannelCounters, at: number, own: Aggregations): Contribution {
  const added: Contribution = {}
  const type = data.type.replaceAll('-', '_')
  for (const [key, aggregation] of Object.entries(own)) {
    const value = data[key]
    if (aggregation === 'mean') {
      if (typeof value === 'number') added[key] = value
      continue
    }
    const before = counters.get('', key)
    if (type !== key || (!before && counters.counts(key))) continue
    if (aggregation === 'last') counters.set('', key, { value: (before?.value ?? 0) + 1, at })
    added[key] = aggregation === 'last' ? counters.total(key)! : 1
  }
  return added
}

function ofCount(
  data: CountData,
  { counters, seconds, own }: Counting,
  at: number,
): Contribution | undefined {
  const added: Contribution = {}
  const before = counters.total('occupancy') ?? 0
  for (const [name, counter] of Object.entries(data)) {
    for (const [key, value] of Object.entries(counter)) {
      const how = countedAs(key, own)
      if (how === 'sum') {
        const earlier = counters.get(name, key)?.value ?? 0
        const growth = value >= earlier ? value - earlier : value
        // A counter tells its other keys, too, when one of them changes.
        if (growth !== 0) added[key] = (added[key] ?? 0) + growth
      }
      if (how === 'sum' || how === 'last') counters.set(name, key, { value, at })
      if (how === 'last') added[key] = counters.total(key)!
      if (how === 'mean') added[key] = meanOf(Object.values(data).flatMap(each => each[key] ?? []))
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

/** Undefined: it is taken from events alone, or nobody knows it. */
function countedAs(key: string, own: Aggregations): Aggregation | undefined {
  if (isOf(growing, key)) return 'sum'
  if (isOf(standing, key) || key === 'occupancy') return 'last'
  return Object.hasOwn(own, key) ? own[key] : undefined
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const isOf = (keys: readonly StatisticKey[], key: string) => (keys as readonly string[]).includes(key)

const whole = (added: Contribution) => (Object.keys(added).length > 0 ? added : undefined)

/**
 * An exponential moving average of a value that stays as it is between its changes: after `seconds` it has come nearer to
 * the value by the share 1 - 1/e. (Andreas Eckner, "Algorithms for Unevenly Spaced Time Series": EMA of the last value.)
 */
export function movedAverage(average: number, value: number, elapsedMs: number, seconds: number): number {
  return value + (average - value) * Math.exp(-Math.max(0, elapsedMs) / (seconds * 1000))
}
