import { CronPattern } from 'croner'
import { DAY_MS, MINUTE_MS, type TimeZone, toDay } from './time-zone.ts'
import type { Timeline } from './timeline.ts'
import type { Occurrence } from './window-timeline.ts'

/**
 * Days to search for an event. The rarest day is 29 February. Around a year such as 2100, which is
 * no leap year, it recurs only after eight years.
 */
const MAX_SEARCHED_DAYS = 8 * 366
/** After this many events without a change, the state is considered constant. */
const MAX_SEARCHED_EVENTS = 50_000
const MAX_CACHED_DAYS = 64

/** A cron expression that arms or disarms. Days are numbered from 1 January 1970. */
interface CronRule {
  /** Whether its events arm, rather than disarm. */
  arms: boolean
  matchesDay(day: number): boolean
  /** The times of matching days, in ms since midnight. */
  times: number[]
  /** Whether the expression names times of day, without wildcard or step. */
  isFixedTime: boolean
}

/** One of the times that a cron expression names. */
interface CronEvent {
  /** In epoch ms. */
  instant: number
  /**
   * The time in the expression, as a wall time of `TimeZone`. If the clock is put forward over this
   * time, `instant` is the moment of the change, when the clock shows a later time.
   */
  wall: number
  arms: boolean
}

/**
 * Creates the timeline of a schedule of type `cron`, which holds while the latest event of its
 * occurrences is one that arms. Without an event in the searched days, it does not hold.
 *
 * As with cron(8), a fixed time that the clock skips counts at the moment of the change, and one
 * that the clock repeats counts only once. Expressions with a wildcard or a step follow the clock.
 */
export function createCronTimeline(occurrences: readonly Occurrence[], zone: TimeZone): Timeline {
  const rules = occurrences.flatMap(({ occurrence_activate_cron, occurrence_deactivate_cron }) => [
    ...parseRules(occurrence_activate_cron, { arms: true }),
    ...parseRules(occurrence_deactivate_cron, { arms: false }),
  ])
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
    listEvents(day).findLast(event => event.instant <= instant)

  function holdsAt(instant: number): boolean {
    const today = toDay(instant, zone)
    for (let day = today + 1; day > today - MAX_SEARCHED_DAYS; day -= 1) {
      const latest = findLatest(day, instant)
      if (!latest) continue
      // If the clock is put back at midnight, an event of the previous day may come later.
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
      const today = toDay(instant, zone)
      /** All events up to this instant have been examined. */
      let examinedUntil = instant
      let examinedCount = 0
      for (
        let day = today - 1;
        day < today + MAX_SEARCHED_DAYS && examinedCount < MAX_SEARCHED_EVENTS;
        day += 1
      ) {
        const end = listEvents(day).at(-1)?.instant
        if (end === undefined || end <= examinedUntil) continue
        const start = examinedUntil
        // If the clock is put back at midnight, events of the next day may come earlier.
        const events = [...listEvents(day), ...listEvents(day + 1)]
          .filter(event => event.instant > start && event.instant <= end)
          .sort(compareEvents)
        const change = findChange(events, isArmed)
        if (change) return change.instant
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
      events.push({ instant: zone.firstInstant(wall), wall, arms })
    }
    const wildcard = matching.filter(rule => rule.arms === arms && !rule.isFixedTime)
    for (const time of listTimes(wildcard)) {
      const wall = midnight + time
      for (const instant of zone.instantsShowing(wall)) events.push({ instant, wall, arms })
    }
  }
  return events.sort(compareEvents)
}

/**
 * Returns the times of rules, each only once: a schedule may have a hundred rules
 * that match every minute.
 */
const listTimes = (rules: readonly CronRule[]): Set<number> =>
  new Set(rules.flatMap(({ times }) => times))

/**
 * Orders events by time. Of events at one instant, the later wall time counts, and of equal ones
 * the event that arms.
 */
const compareEvents = (a: CronEvent, b: CronEvent) =>
  a.instant - b.instant || a.wall - b.wall || Number(a.arms) - Number(b.arms)

/**
 * Returns the first event that changes the state. Of events at one instant, the last one counts.
 */
const findChange = (events: readonly CronEvent[], isArmed: boolean): CronEvent | undefined =>
  events.find(
    ({ instant, arms }, index) => arms !== isArmed && events[index + 1]?.instant !== instant,
  )

/** Parses a cron expression. Returns no rule for an empty one. */
function parseRules(expression: string, { arms }: Pick<CronRule, 'arms'>): CronRule[] {
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

/**
 * Returns whether a day matches an expression. If it restricts both the day of the month and the
 * day of the week, one of them is sufficient, as with cron(8).
 */
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
