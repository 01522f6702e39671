import type { Schedule } from '@eyrie/contract/management/schedule'
import { DAY_MS, MINUTE_MS, type TimeZone } from './time-zone.ts'
import { createPeriodTimeline, type Period, type Timeline } from './timeline.ts'

export type Occurrence = Schedule['schedule_occurrence'][number]

/** The names of weekdays, in the order of `Date.getUTCDay`. */
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** If windows follow each other without a gap for this long, they are considered endless. */
const HORIZON_DAYS = 400
const NO_LIMITS: Period = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }

/** A window that recurs on days of the week. */
interface DailyWindow {
  isOnWeekday: (weekday: number) => boolean
  /** Time since midnight on the clock. */
  startMs: number
  /** Greater than `startMs`. More than a day if the window ends on the day after its start. */
  endMs: number
  /** The window exists only between these instants. */
  limits: Period
}

/**
 * Creates the timeline of an occurrence of type `window`. A window belongs to the day on which it
 * starts. It lasts from the first moment at which the clock shows the start or a later time, until
 * the last one at which it shows a time before the end.
 */
export function createWindowTimeline(occurrence: Occurrence, zone: TimeZone): Timeline {
  const { occurrence_constraint: days, occurrence_is_allday: isAllDay } = occurrence
  const isOnWeekday = parseWeekdays(days)
  const startMs = parseTimeOfDay(occurrence.occurrence_start_time)
  const endMs = parseTimeOfDay(occurrence.occurrence_end_time)
  if (!isAllDay && startMs !== undefined && endMs !== undefined) {
    const isOvernight = endMs <= startMs
    const lastMs = isOvernight ? endMs + DAY_MS : endMs
    return createDailyTimeline({ isOnWeekday, startMs, endMs: lastMs, limits: NO_LIMITS }, zone)
  }

  // The start and the end may also be dates with times. The window then lasts all day, on
  // the days between them.
  const limits = readLimits(occurrence)
  const wholeDays = { isOnWeekday, startMs: 0, endMs: DAY_MS }
  if (isAllDay) {
    return createDailyTimeline({ ...wholeDays, limits: roundToDays(limits, zone) }, zone)
  }
  if (days === '') return createPeriodTimeline([limits])
  return createDailyTimeline({ ...wholeDays, limits }, zone)
}

/** Parses a time such as `08:30` to ms since midnight. Returns undefined for any other text. */
function parseTimeOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? []
  return hours === undefined ? undefined : (Number(hours) * 60 + Number(minutes)) * MINUTE_MS
}

/**
 * Parses weekdays such as `mon,tue`. Returns whether a weekday is one of them, which is true for
 * all if there are none.
 */
function parseWeekdays(constraint: string): (weekday: number) => boolean {
  if (constraint === '') return () => true
  const names = constraint.split(',').map(day => day.trim().toLowerCase())
  return weekday => names.includes(WEEKDAYS[weekday]!)
}

/**
 * Returns the period between the start and the end, if these are dates with times (RFC 3339). A
 * missing one is no limit.
 */
function readLimits({
  occurrence_start_time: start,
  occurrence_end_time: end,
}: Occurrence): Period {
  const parse = (text: string, limit: number) => (/^\d{4}-/.test(text) ? Date.parse(text) : limit)
  return { start: parse(start, NO_LIMITS.start), end: parse(end, NO_LIMITS.end) }
}

/** Extends a period to the beginning of its first and the end of its last day. */
function roundToDays({ start, end }: Period, zone: TimeZone): Period {
  const day = (instant: number) => Math.floor(zone.toWall(instant) / DAY_MS) * DAY_MS
  return {
    start: Number.isFinite(start) ? zone.firstInstant(day(start)) : start,
    end: Number.isFinite(end) ? zone.firstInstant(day(end - 1) + DAY_MS) : end,
  }
}

/** Creates the timeline of a window that recurs on days of the week. */
function createDailyTimeline(
  { isOnWeekday, startMs, endMs, limits }: DailyWindow,
  zone: TimeZone,
): Timeline {
  const dayOf = (instant: number) => Math.floor(zone.toWall(instant) / DAY_MS)

  /** Returns the window that starts on a day; days are numbered from 1 January 1970. */
  function findPeriod(day: number): Period | undefined {
    if (!isOnWeekday(new Date(day * DAY_MS).getUTCDay())) return undefined
    const start = Math.max(zone.firstInstant(day * DAY_MS + startMs), limits.start)
    const end = Math.min(zone.endInstant(day * DAY_MS + endMs), limits.end)
    return start < end ? { start, end } : undefined
  }

  return {
    holdsAt(instant) {
      const today = dayOf(instant)
      // A window lasts up to two days. If the clock is put back at midnight, one of
      // tomorrow may have started.
      for (let day = today - 2; day <= today + 1; day += 1) {
        const period = findPeriod(day)
        if (period && period.start <= instant && instant < period.end) return true
      }
      return false
    },
    nextChange(instant) {
      if (instant >= limits.end) return undefined
      const firstDay = dayOf(Math.max(instant, limits.start)) - 2
      /**
       * The end of the windows that follow each other without a gap from `instant` on.
       * Undefined if none holds then.
       */
      let end: number | undefined
      for (let day = firstDay; day <= firstDay + HORIZON_DAYS; day += 1) {
        const period = findPeriod(day)
        if (!period || period.end <= instant) continue
        if (end === undefined && period.start > instant) return period.start
        if (end !== undefined && period.start > end) return end
        end = Math.max(end ?? period.end, period.end)
      }
      return end !== undefined && dayOf(end) < firstDay + HORIZON_DAYS ? end : undefined
    },
  }
}
