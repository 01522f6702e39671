import type { OutputMessage } from '@eyrie/contract'
import type {
  Aggregation,
  Aggregations,
  BuiltInStatisticKey,
} from '@eyrie/contract/management/statistic'
import { CHANNEL_WIDE, type ChannelCounters } from './channel-counters.ts'

/**
 * The values that a message of an engine adds to the statistics of its channel, by statistic key.
 * Messages are either single events, such as a line crossing, or the current counters of the lines
 * and zones of a channel.
 */
export type Contribution = Record<string, number>

/** Key of the number of people in the zones of a channel. */
export const OCCUPANCY = 'occupancy' satisfies BuiltInStatisticKey

/**
 * Key of the statistic "moving average of the occupancy". It is computed from `OCCUPANCY_AVERAGE`
 * unless an engine reports it.
 */
export const MOVING_AVERAGE = 'moving_average_count' satisfies BuiltInStatisticKey

/**
 * Key of the moving average of the occupancy at the time of a count. Readers advance the average to
 * the time of the query.
 */
export const OCCUPANCY_AVERAGE = 'occupancy_average'

/** Keys of counters that only grow while a channel runs. The statistic is their growth. */
const GROWING_KEYS: ReadonlySet<string> = new Set<BuiltInStatisticKey>([
  'violation',
  'non_violation',
  'fire',
  'high_smoke',
  'intermediate_smoke',
  'low_smoke',
  'frame_collision',
  'frame_near_miss',
])

/** Keys of counters whose latest value is the statistic. */
const LATEST_KEYS: ReadonlySet<string> = new Set<BuiltInStatisticKey>([
  OCCUPANCY,
  MOVING_AVERAGE,
  'total_collision',
  'total_near_miss',
])

/** The key that an event increments, by the type of the event. */
const KEY_BY_EVENT_TYPE: Readonly<Record<string, BuiltInStatisticKey>> = {
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

/** The key that a `smoke` event increments, by the level of smoke. */
const KEY_BY_SMOKE_LEVEL: Readonly<Record<string, BuiltInStatisticKey>> = {
  low: 'low_smoke',
  intermediate: 'intermediate_smoke',
  high: 'high_smoke',
}

/**
 * The key of the total since the start of the channel, by the key that the same event increments.
 */
const TOTAL_BY_KEY: Partial<Record<BuiltInStatisticKey, BuiltInStatisticKey>> = {
  frame_collision: 'total_collision',
  frame_near_miss: 'total_near_miss',
}
/** The name under which counters are stored that an element has given no name. */
const UNNAMED = '(unnamed)'
/**
 * Larger values, such as the largest number for "unknown", are ignored: their sum could exceed what
 * the database can store.
 */
const MAX_VALUE = 1e15
/** Counters with longer names are ignored, because the database could not index them. */
const MAX_NAME_LENGTH = 500

/** Is called with the reason if a part of a message is ignored because it cannot be stored. */
export type IgnoredListener = (reason: string) => void

const isCountable = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= MAX_VALUE

/** Returns whether a value can be counted, and reports a number that cannot. */
function acceptValue(value: unknown, onIgnored: IgnoredListener): value is number {
  if (isCountable(value)) return true
  if (typeof value === 'number') onIgnored(`a value exceeds ${MAX_VALUE}`)
  return false
}

/** The state and settings of a channel that determine what its messages contribute. */
export interface ChannelCounting {
  counters: ChannelCounters
  /** Length of the window of the moving average. */
  windowSeconds: number
  /** Whether `total` counts the visits to zones instead of the crossings of lines. */
  countsVisits: boolean
  /** Aggregations of the keys that the usecase defines itself. */
  customAggregations: Aggregations
}

/**
 * Returns whether a usecase with these statistics counts visits: it has an
 * occupancy, but no crossings.
 */
export function countsVisits(availableKeys: readonly string[]): boolean {
  const has = (key: BuiltInStatisticKey) => availableKeys.includes(key)
  return has(OCCUPANCY) && !has('up') && !has('down')
}

/**
 * Returns the contribution of a message, or undefined if it has none, and updates the channel's
 * counters. A statistic is computed from the channel's `count` messages if they contain its key,
 * and otherwise from events. Nothing is counted twice.
 */
export function computeContribution(
  message: Pick<OutputMessage, 'kind' | 'data' | 'time'>,
  counting: ChannelCounting,
  onIgnored: IgnoredListener,
): Contribution | undefined {
  const timeMs = Date.parse(message.time)
  const { kind, data } = message as OutputMessage
  switch (kind) {
    case 'event':
      return nonEmpty({
        ...contributeStandardKeys(data, counting, timeMs, onIgnored),
        ...contributeCustomKeys(data, counting, timeMs, onIgnored),
      })
    case 'count':
      return nonEmpty(contributeCounts(data, counting, timeMs, onIgnored))
    case 'state':
      if (data.state === 'starting') counting.counters.clear()
      return undefined
    default:
      return undefined
  }
}

const nonEmpty = (contribution: Contribution) =>
  Object.keys(contribution).length > 0 ? contribution : undefined

type EventData = Extract<OutputMessage, { kind: 'event' }>['data']
type CountData = Extract<OutputMessage, { kind: 'count' }>['data']

/** Returns the contribution of an event to the statistics that all usecases have. */
function contributeStandardKeys(
  data: EventData,
  { counters, countsVisits }: ChannelCounting,
  timeMs: number,
  onIgnored: IgnoredListener,
): Contribution {
  if (data.type === 'line-crossing') {
    const { direction } = data
    return {
      ...((direction === 'up' || direction === 'down') && { [direction]: 1 }),
      ...(!countsVisits && { total: 1 }),
    }
  }
  if (data.type === 'zone-enter') return countsVisits ? { total: 1 } : {}
  if (data.type === 'zone-exit') {
    return acceptValue(data.dwell_time, onIgnored) ? { dwell_time: data.dwell_time } : {}
  }

  const levelKey = data.type === 'smoke' ? KEY_BY_SMOKE_LEVEL[String(data.level)] : undefined
  const key = levelKey ?? KEY_BY_EVENT_TYPE[data.type]
  if (!key) return {}

  // A key with counters is computed from `count` messages.
  const contribution: Contribution = {}
  if (!counters.has(key)) {
    incrementEventCount(key, counters, timeMs)
    contribution[key] = 1
  }
  const totalKey = TOTAL_BY_KEY[key]
  if (totalKey && !counters.has(totalKey)) {
    contribution[totalKey] = incrementEventCount(totalKey, counters, timeMs)
  }
  return contribution
}

/** Returns the contribution of an event to the statistics that the usecase defines itself. */
function contributeCustomKeys(
  data: EventData,
  { counters, customAggregations }: ChannelCounting,
  timeMs: number,
  onIgnored: IgnoredListener,
): Contribution {
  const contribution: Contribution = {}
  // Events of the type `near-miss` count for the key `near_miss`.
  const eventKey = data.type.replaceAll('-', '_')
  for (const [key, aggregation] of Object.entries(customAggregations)) {
    if (aggregation === 'mean') {
      const value = data[key]
      if (acceptValue(value, onIgnored)) contribution[key] = value
      continue
    }

    if (eventKey !== key || counters.has(key)) continue
    const eventCount = incrementEventCount(key, counters, timeMs)
    contribution[key] = aggregation === 'last' ? eventCount : 1
  }
  return contribution
}

/** Increments the number of events with a key. Returns the new number. */
function incrementEventCount(key: string, counters: ChannelCounters, timeMs: number): number {
  const value = (counters.get(CHANNEL_WIDE, key)?.value ?? 0) + 1
  counters.set(CHANNEL_WIDE, key, { value, timeMs })
  return value
}

/** Resets the number of events with a key, when a counter replaces it. Returns that number. */
function takeEventCount(key: string, counters: ChannelCounters, timeMs: number): number {
  const value = counters.get(CHANNEL_WIDE, key)?.value ?? 0
  if (value > 0) counters.set(CHANNEL_WIDE, key, { value: 0, timeMs })
  return value
}

/**
 * Returns the contribution of a `count` message, which has the current counters of
 * lines and zones by name.
 */
function contributeCounts(
  data: CountData,
  counting: ChannelCounting,
  timeMs: number,
  onIgnored: IgnoredListener,
): Contribution {
  const { counters, customAggregations } = counting
  const contribution: Contribution = {}
  const growths: Contribution = {}
  const previousOccupancy = counters.getTotal(OCCUPANCY) ?? 0

  for (const [ownName, values] of Object.entries(data)) {
    const name = ownName === CHANNEL_WIDE ? UNNAMED : ownName
    if (name.length > MAX_NAME_LENGTH) {
      onIgnored(`a name has more than ${MAX_NAME_LENGTH} characters`)
      continue
    }
    for (const [key, value] of Object.entries(values)) {
      const aggregation = findCountAggregation(key, customAggregations)
      // A value without a statistic may be any number, such as a time in microseconds.
      if (!aggregation || !acceptValue(value, onIgnored)) continue
      switch (aggregation) {
        case 'sum': {
          const growth = computeGrowth(counters.get(name, key)?.value ?? 0, value)
          growths[key] = (growths[key] ?? 0) + growth
          counters.set(name, key, { value, timeMs })
          break
        }
        case 'last':
          takeEventCount(key, counters, timeMs)
          counters.set(name, key, { value, timeMs })
          contribution[key] = counters.getTotal(key)!
          break
        case 'mean':
          contribution[key] = computeMean(
            Object.values(data)
              .flatMap(counter => counter[key] ?? [])
              .filter(isCountable),
          )
          break
      }
    }
  }

  for (const [key, growth] of Object.entries(growths)) {
    // A message repeats the unchanged keys of a counter.
    if (growth === 0) continue
    // An element may report events before the first count, which includes them.
    const eventCount = takeEventCount(key, counters, timeMs)
    const added = growth < 0 ? growth : Math.max(0, growth - eventCount)
    if (added !== 0) contribution[key] = added
  }

  const { occupancy } = contribution
  if (occupancy !== undefined) {
    contribution[OCCUPANCY_AVERAGE] = updateOccupancyAverage(
      counting,
      previousOccupancy,
      occupancy,
      timeMs,
    )
  }
  return contribution
}

/** Returns undefined if the key is computed from events only, or is unknown. */
function findCountAggregation(
  key: string,
  customAggregations: Aggregations,
): Aggregation | undefined {
  if (GROWING_KEYS.has(key)) return 'sum'
  if (LATEST_KEYS.has(key)) return 'last'
  return Object.hasOwn(customAggregations, key) ? customAggregations[key] : undefined
}

/** A counter with a lower value than before has restarted from zero. */
const computeGrowth = (previous: number, current: number) =>
  current >= previous ? current - previous : current

const computeMean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Stores and returns the moving average at `timeMs`. Its first value is the occupancy itself. */
function updateOccupancyAverage(
  { counters, windowSeconds }: ChannelCounting,
  previousOccupancy: number,
  occupancy: number,
  timeMs: number,
): number {
  const previous = counters.get(CHANNEL_WIDE, OCCUPANCY_AVERAGE)
  const average = previous
    ? advanceMovingAverage(
        previous.value,
        previousOccupancy,
        timeMs - previous.timeMs,
        windowSeconds,
      )
    : occupancy
  counters.set(CHANNEL_WIDE, OCCUPANCY_AVERAGE, { value: average, timeMs })
  return average
}

/**
 * Advances an exponential moving average of a value that was constant for `elapsedMs`. After
 * `windowSeconds` the average has covered the share 1 - 1/e of its distance to the value. Source:
 * Andreas Eckner, "Algorithms for Unevenly Spaced Time Series: Moving Averages and Other Rolling
 * Operators", exponential moving average with last-point interpolation.
 */
export function advanceMovingAverage(
  average: number,
  value: number,
  elapsedMs: number,
  windowSeconds: number,
): number {
  const elapsedWindows = Math.max(0, elapsedMs) / (windowSeconds * 1000)
  return value + (average - value) * Math.exp(-elapsedWindows)
}
