import type { OutputMessage } from '@eyrie/contract'
import type { Aggregation, Aggregations, StatisticKey } from '@eyrie/contract/management/statistic'
import type { ChannelCounters } from './channel-counters.ts'

/** The values that a message adds to the statistics of its channel, by key. */
export type Contribution = Record<string, number>

/** Stored together with `occupancy`; readers advance it to the time of the query. */
export const OCCUPANCY_AVERAGE = 'occupancy_average'

/** Counters that only grow while a channel runs: their growth is the statistic. */
const growingKeys: ReadonlySet<string> = new Set<StatisticKey>([
  'violation',
  'non_violation',
  'fire',
  'high_smoke',
  'intermediate_smoke',
  'low_smoke',
  'frame_collision',
  'frame_near_miss',
])

/** Counters whose latest value is the statistic. */
const latestKeys: ReadonlySet<string> = new Set<StatisticKey>([
  'occupancy',
  'moving_average_count',
  'total_collision',
  'total_near_miss',
])

/** The key that an event increments, by event type. */
const keyByEventType: Readonly<Record<string, StatisticKey>> = {
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

/** The key that a `smoke` event with a level increments. */
const keyBySmokeLevel: Readonly<Record<string, StatisticKey>> = {
  low: 'low_smoke',
  intermediate: 'intermediate_smoke',
  high: 'high_smoke',
}

/** Keys with a total since the start of the channel, which the same event increments. */
const totalByKey: Partial<Record<StatisticKey, StatisticKey>> = {
  frame_collision: 'total_collision',
  frame_near_miss: 'total_near_miss',
}

/** The counters and settings of a channel. */
export interface ChannelCounting {
  counters: ChannelCounters
  /** Length of the window of the moving average. */
  seconds: number
  /** The keys that only its usecase has. */
  own: Aggregations
}

/**
 * Returns the contribution of a message, or undefined if it has none, and updates the channel's counters. A key that the
 * channel counts is computed from its counters only, any other key from events only: nothing is counted twice.
 */
export function computeContribution(
  message: Pick<OutputMessage, 'kind' | 'data' | 'time'>,
  counting: ChannelCounting,
): Contribution | undefined {
  const timeMs = Date.parse(message.time)
  const { kind, data } = message as OutputMessage
  const { counters, own } = counting
  switch (kind) {
    case 'event':
      return nonEmpty({
        ...toEventContribution(data, counters, timeMs),
        ...toOwnContribution(data, counters, timeMs, own),
      })
    case 'count':
      return nonEmpty(toCountContribution(data, counting, timeMs))
    case 'state':
      if (data.state === 'starting') counters.clear()
      return undefined
    default:
      return undefined
  }
}

const nonEmpty = (contribution: Contribution) =>
  Object.keys(contribution).length > 0 ? contribution : undefined

type EventData = Extract<OutputMessage, { kind: 'event' }>['data']
type CountData = Extract<OutputMessage, { kind: 'count' }>['data']

function toEventContribution(data: EventData, counters: ChannelCounters, timeMs: number): Contribution {
  if (data.type === 'line-crossing') {
    const { direction } = data
    return direction === 'up' || direction === 'down' ? { [direction]: 1, total: 1 } : { total: 1 }
  }
  if (data.type === 'zone-exit')
    return typeof data.dwell_time === 'number' ? { dwell_time: data.dwell_time } : {}

  const levelKey = data.type === 'smoke' ? keyBySmokeLevel[String(data.level)] : undefined
  const key = levelKey ?? keyByEventType[data.type]
  if (!key) return {}
  const contribution: Contribution = counters.has(key) ? {} : { [key]: 1 }
  const totalKey = totalByKey[key]
  if (!totalKey) return contribution
  // Totals of events are stored under the empty name: other names come from counts, which take precedence.
  const total = counters.get('', totalKey)
  if (total || !counters.has(totalKey)) {
    const value = (total?.value ?? 0) + 1
    counters.set('', totalKey, { value, timeMs })
    contribution[totalKey] = value
  }
  return contribution
}

/** Returns the contribution of an event to the keys that a plugin has added. */
function toOwnContribution(
  data: EventData,
  counters: ChannelCounters,
  timeMs: number,
  own: Aggregations,
): Contribution {
  const contribution: Contribution = {}
  const eventKey = data.type.replaceAll('-', '_')
  for (const [key, aggregation] of Object.entries(own)) {
    const value = data[key]
    if (aggregation === 'mean') {
      if (typeof value === 'number') contribution[key] = value
      continue
    }
    const previous = counters.get('', key)
    const isCounted = !previous && counters.has(key)
    if (eventKey !== key || isCounted) continue
    if (aggregation === 'last') {
      counters.set('', key, { value: (previous?.value ?? 0) + 1, timeMs })
      contribution[key] = counters.total(key)!
    } else contribution[key] = 1
  }
  return contribution
}

function toCountContribution(
  data: CountData,
  { counters, seconds, own }: ChannelCounting,
  timeMs: number,
): Contribution {
  const contribution: Contribution = {}
  const previousOccupancy = counters.total('occupancy') ?? 0
  for (const [name, counter] of Object.entries(data)) {
    for (const [key, value] of Object.entries(counter)) {
      switch (findCountAggregation(key, own)) {
        case 'sum': {
          const previous = counters.get(name, key)?.value ?? 0
          // A lower value means that the counter has restarted from zero.
          const growth = value >= previous ? value - previous : value
          // A message repeats the unchanged keys of a counter.
          if (growth !== 0) contribution[key] = (contribution[key] ?? 0) + growth
          counters.set(name, key, { value, timeMs })
          break
        }
        case 'last':
          counters.set(name, key, { value, timeMs })
          contribution[key] = counters.total(key)!
          break
        case 'mean':
          contribution[key] = computeMean(Object.values(data).flatMap(each => each[key] ?? []))
          break
      }
    }
  }
  if (contribution.occupancy !== undefined) {
    const average = counters.get('', OCCUPANCY_AVERAGE)
    const value = average
      ? advanceMovingAverage(average.value, previousOccupancy, timeMs - average.timeMs, seconds)
      : contribution.occupancy
    counters.set('', OCCUPANCY_AVERAGE, { value, timeMs })
    contribution[OCCUPANCY_AVERAGE] = value
  }
  return contribution
}

/** Returns undefined for a key that is computed from events, or is unknown. */
function findCountAggregation(key: string, own: Aggregations): Aggregation | undefined {
  if (growingKeys.has(key)) return 'sum'
  if (latestKeys.has(key)) return 'last'
  return Object.hasOwn(own, key) ? own[key] : undefined
}

const computeMean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Advances an exponential moving average of a value that was constant for `elapsedMs`: within `seconds` the average covers
 * the share 1 - 1/e of its distance to the value. (Andreas Eckner, "Algorithms for Unevenly Spaced Time Series": EMA of the
 * last value.)
 */
export function advanceMovingAverage(
  average: number,
  value: number,
  elapsedMs: number,
  seconds: number,
): number {
  return value + (average - value) * Math.exp(-Math.max(0, elapsedMs) / (seconds * 1000))
}
