import { CronPattern } from 'croner'
import { DAY_MS, MINUTE_MS, type TimeZone } from './time-zone.ts'
import type { Timeline } from './timeline.ts'
import type { Occurrence } from './window-timeline.ts'

/** Longest time between two dates that match: 29 February, across a year such as 2100. */
const MAX_DAYS = 8 * 366
/** Number of events without a change after which a state counts as constant. */
const MAX_EVENTS = 50_000
const MAX_CACHED_DAYS = 64

/** A cron expression that arms or disarms. */
interface CronRule {
  arms: boolean
  matchesDay(day: number): boolean
  /** The times of matching days, in ms since midnight. */
  times: number[]
  /** Whether the expression names times of day, without wildcard or step. */
  isFixedTime: boolean
}

interface CronEvent {
  at: number
  /** What the cron expression says, which may differ from the clock at `at` if the time is skipped. */
  wall: number
  arms: boolean
}

/** Of events at one instant, the later wall time counts, and of equal ones the event that arms. */
const compareEvents = (a: CronEvent, b: CronEvent) =>
  a.at - b.at || a.wall - b.wall || Number(a.arms) - Number(b.arms)

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
  const canChange = (to: boolean) => rules.some(({ arms }) => arms === to)
  const dayOf = (instant: number) => Math.floor(zone.toWall(instant) / DAY_MS)
  const cache = new Map<number, CronEvent[]>()

  function listEvents(day: number): CronEvent[] {
    const cached = cache.get(day)
    if (cached) return cached
    const events: CronEvent[] = []
    const matching = rules.filter(rule => rule.matchesDay(day))
    for (const group of Map.groupBy(matching, ({ arms, isFixedTime }) => `${arms} ${isFixedTime}`).values()) {
      const { arms, isFixedTime } = group[0]!
      for (const time of new Set(group.flatMap(({ times }) => times))) {
        const wall = day * DAY_MS + time
        const instants = isFixedTime ? [zone.firstInstant(wall)] : zone.instantsShowing(wall)
        for (const at of instants) events.push({ at, wall, arms })
      }
    }
    events.sort(compareEvents)
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
      const current = holdsAt(instant)
      if (!canChange(!current)) return undefined
      const today = dayOf(instant)
      let reached = instant
      let examined = 0
      for (let day = today - 1; day < today + MAX_DAYS && examined < MAX_EVENTS; day += 1) {
        const end = listEvents(day).at(-1)?.at ?? Number.NEGATIVE_INFINITY
        if (end <= reached) continue
        const events = [...listEvents(day), ...listEvents(day + 1)]
          .filter(({ at }) => at > reached && at <= end)
          .sort(compareEvents)
        // Of events at one instant, the last one counts.
        const change = events.find(({ at, arms }, index) => arms !== current && events[index + 1]?.at !== at)
        if (change) return change.at
        reached = end
        examined += events.length
      }
      return undefined
    },
  }
}

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
