import { CronPattern } from 'croner'
import { DAY_MS, MINUTE_MS, type TimeZone } from './time-zone.ts'
import type { Timeline } from './timeline.ts'
import type { Occurrence } from './window-timeline.ts'

/** Longest time between two days that match: 29 February, across a year such as 2100. */
const MAX_DAYS = 8 * 366
/** After this many events without a change, the state is considered constant. */
const MAX_EVENTS = 50_000
const MAX_CACHED_DAYS = 64

/** A cron expression that arms or disarms. Days are numbered from 1 January 1970. */
interface CronRule {
  arms: boolean
  matchesDay(day: number): boolean
  /** The times of matching days, in ms since midnight. */
  times: number[]
  /** Whether the expression names times of day, without wildcard or step. */
  isFixedTime: boolean
}

interface CronEvent {
  /** The instant of the event, in epoch ms. */
  at: number
  /** The time in the cron expression. The clock does not show it at `at` if it skips this time. */
  wall: number
  arms: boolean
}

/**
 * The times of a schedule of type `cron`: it holds if the latest event of all its occurrences activates. As with cron(8), a
 * fixed time that the clock skips counts at the moment of the change, and one that is repeated counts the first time.
 * Expressions with a wildcard or a step follow the clock.
 */
export function createCronTimeline(occurrences: readonly Occurrence[], zone: TimeZone): Timeline {
  const rules = occurrences.flatMap(({ occurrence_activate_cron, occurrence_deactivate_cron }) => [
    ...parseRule(occurrence_activate_cron, true),
    ...parseRule(occurrence_deactivate_cron, false),
  ])
  const dayOf = (instant: number) => Math.floor(zone.toWall(instant) / DAY_MS)
  const cache = new Map<number, CronEvent[]>()

  function listEvents(day: number): CronEvent[] {
    const cached = cache.get(day)
    if (cached) return cached
    const events = createEvents(rules, day, zone)
    if (cache.size >= MAX_CACHED_DAYS) cache.clear()
    cache.set(day, events)
    return events
  }

  const findLatest = (day: number, instant: number): CronEvent | undefined =>
    listEvents(day).findLast(({ at }) => at <= instant)

  function holdsAt(instant: number): boolean {
    const today = dayOf(instant)
    for (let day = today + 1; day > today - MAX_DAYS; day -= 1) {
      const latest = findLatest(day, instant)
      if (!latest) continue
      // A clock that is put back at midnight mixes two days.
      const earlier = findLatest(day - 1, instant)
      return (earlier && compareEvents(earlier, latest) > 0 ? earlier : latest).arms
    }
    return false
  }

  return {
    holdsAt,
    nextChange(instant) {
      const isArmed = holdsAt(instant)
      if (rules.every(({ arms }) => arms === isArmed)) return undefined
      const today = dayOf(instant)
      /** All events up to this instant have been examined. */
      let examinedUntil = instant
      let examinedCount = 0
      for (let day = today - 1; day < today + MAX_DAYS && examinedCount < MAX_EVENTS; day += 1) {
        const end = listEvents(day).at(-1)?.at
        if (end === undefined || end <= examinedUntil) continue
        const start = examinedUntil
        // The next day, too, because a clock that is put back at midnight mixes two days.
        const events = [...listEvents(day), ...listEvents(day + 1)]
          .filter(({ at }) => at > start && at <= end)
          .sort(compareEvents)
        const change = findChange(events, isArmed)
        if (change) return change.at
        examinedUntil = end
        examinedCount += events.length
      }
      return undefined
    },
  }
}

/** Returns the events of a day in order. */
function createEvents(rules: readonly CronRule[], day: number, zone: TimeZone): CronEvent[] {
  const matching = rules.filter(rule => rule.matchesDay(day))
  const midnight = day * DAY_MS
  const events: CronEvent[] = []
  for (const arms of [false, true]) {
    const fixedTime = matching.filter(rule => rule.arms === arms && rule.isFixedTime)
    for (const time of listTimes(fixedTime)) {
      const wall = midnight + time
      events.push({ at: zone.firstInstant(wall), wall, arms })
    }
    const wildcard = matching.filter(rule => rule.arms === arms && !rule.isFixedTime)
    for (const time of listTimes(wildcard)) {
      const wall = midnight + time
      for (const at of zone.instantsShowing(wall)) events.push({ at, wall, arms })
    }
  }
  return events.sort(compareEvents)
}

/** Returns the times of rules, each only once: a schedule may have a hundred rules that match every minute. */
const listTimes = (rules: readonly CronRule[]): Set<number> => new Set(rules.flatMap(({ times }) => times))

/** Orders events by time. Of events at one instant, the later wall time counts, and of equal ones the event that arms. */
const compareEvents = (a: CronEvent, b: CronEvent) =>
  a.at - b.at || a.wall - b.wall || Number(a.arms) - Number(b.arms)

/** Returns the first event that changes the state. Of events at one instant, the last one counts. */
const findChange = (events: readonly CronEvent[], isArmed: boolean): CronEvent | undefined =>
  events.find(({ at, arms }, index) => arms !== isArmed && events[index + 1]?.at !== at)

/** Parses a cron expression; none if it is empty. */
function parseRule(expression: string, arms: boolean): CronRule[] {
  if (expression === '') return []
  const pattern = new CronPattern(expression.trim().split(/\s+/).join(' '), undefined, {
    mode: '5-part',
    sloppyRanges: true,
    fixedTimeRule: 'no-wildcard',
  })
  const { hour, minute, isFixedTime } = pattern
  const times = listIndexes(hour).flatMap(hours =>
    listIndexes(minute).map(minutes => (hours * 60 + minutes) * MINUTE_MS),
  )
  return [{ arms, matchesDay: createDayMatcher(pattern), times, isFixedTime }]
}

const listIndexes = (flags: readonly number[]): number[] =>
  flags.flatMap((flag, index) => (flag ? [index] : []))

/** Days of the month and of the week that are both restricted are alternatives, as with cron(8). */
function createDayMatcher(pattern: CronPattern): (day: number) => boolean {
  const { day: days, month: months, dayOfWeek: weekdays, starDOM, starDOW } = pattern
  return day => {
    const date = new Date(day * DAY_MS)
    if (!months[date.getUTCMonth()]) return false
    const isOnDate = Boolean(days[date.getUTCDate() - 1])
    const isOnWeekday = Boolean(weekdays[date.getUTCDay()])
    return starDOM || starDOW ? isOnDate && isOnWeekday : isOnDate || isOnWeekday
  }
}
