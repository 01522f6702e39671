import { type CronRule, parseCronRules } from './cron-rule.ts'
import { DAY_MS, type TimeZone, toDay } from './time-zone.ts'
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
    ...parseCronRules(occurrence_activate_cron, { arms: true }),
    ...parseCronRules(occurrence_deactivate_cron, { arms: false }),
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

  /** Yields the events after an instant, in groups. Events at one instant are in the same group. */
  function* listFollowing(instant: number): Generator<CronEvent[]> {
    const today = toDay(instant, zone)
    let start = instant
    for (let day = today - 1; day < today + MAX_SEARCHED_DAYS; day += 1) {
      const end = listEvents(day).at(-1)?.instant
      if (end === undefined || end <= start) continue
      // If the clock is put back at midnight, events of the next day may come earlier.
      const events = [...listEvents(day), ...listEvents(day + 1)]
      yield events
        .filter(event => event.instant > start && event.instant <= end)
        .sort(compareEvents)
      start = end
    }
  }

  function holdsAt(instant: number): boolean {
    const today = toDay(instant, zone)
    for (let day = today + 1; day > today - MAX_SEARCHED_DAYS; day -= 1) {
      const latest = findLatest(day, instant)
      if (!latest) continue
      // If the clock is put back at midnight, an event of the previous day may come later.
      const ofPreviousDay = findLatest(day - 1, instant)
      const isLater = ofPreviousDay !== undefined && compareEvents(ofPreviousDay, latest) > 0
      return isLater ? ofPreviousDay.arms : latest.arms
    }
    return false
  }

  return {
    holdsAt,
    nextChange(instant) {
      const isArmed = holdsAt(instant)
      if (rules.every(({ arms }) => arms === isArmed)) return undefined
      let searchedCount = 0
      for (const events of listFollowing(instant)) {
        const change = findChange(events, isArmed)
        if (change) return change.instant
        searchedCount += events.length
        if (searchedCount >= MAX_SEARCHED_EVENTS) return undefined
      }
      return undefined
    },
  }
}

/** Returns the events of a day in order. */
function createEvents(rules: readonly CronRule[], day: number, zone: TimeZone): CronEvent[] {
  const midnight = day * DAY_MS
  const matching = rules.filter(rule => rule.matchesDay(day))
  const events: CronEvent[] = []
  for (const arms of [false, true]) {
    for (const isFixedTime of [false, true]) {
      const ofKind = matching.filter(rule => rule.arms === arms && rule.isFixedTime === isFixedTime)
      // Each time only once: a schedule may have a hundred rules that match every minute.
      for (const time of new Set(ofKind.flatMap(({ times }) => times))) {
        const wall = midnight + time
        const instants = isFixedTime ? [zone.firstInstant(wall)] : zone.instantsShowing(wall)
        events.push(...instants.map(instant => ({ instant, wall, arms })))
      }
    }
  }
  return events.sort(compareEvents)
}

/**
 * Orders events by time. Of several events at one instant, the last one in this order counts: the
 * one with the latest wall time and, of equal ones, the one that arms.
 */
const compareEvents = (a: CronEvent, b: CronEvent) =>
  a.instant - b.instant || a.wall - b.wall || Number(a.arms) - Number(b.arms)

/** Returns the first event that changes the state and is the last one at its instant. */
const findChange = (events: readonly CronEvent[], isArmed: boolean): CronEvent | undefined =>
  events.find(
    ({ instant, arms }, index) => arms !== isArmed && events[index + 1]?.instant !== instant,
  )
