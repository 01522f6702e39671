import type { Schedule } from '@eyrie/contract/management/schedule'
import { DAY_MS, MINUTE_MS, type TimeZone, toDay } from './time-zone.ts'
import { createPeriodTimeline, type Period, type Timeline } from './timeline.ts'

export type Occurrence = Schedule['schedule_occurrence'][number]

/** The names of weekdays, in the order of `Date.getUTCDay`. */
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** If windows follow each other without a gap for this long, they are considered endless. */
const HORIZON_DAYS = 400
/** A window lasts up to two days, so one that holds today may have started two days ago. */
const MAX_DAYS_BACK = 2
/** If the clock is put back at midnight, a window of tomorrow may have started already. */
const MAX_DAYS_AHEAD = 1
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
  const { occurrence_constraint: weekdays, occurrence_is_allday: isAllDay } = occurrence
  const isOnWeekday = parseWeekdays(weekdays)
  const startMs = parseTimeOfDay(occurrence.occurrence_start_time)
  const endTimeMs = parseTimeOfDay(occurrence.occurrence_end_time)
  if (!isAllDay && startMs !== undefined && endTimeMs !== undefined) {
    const endsNextDay = endTimeMs <= startMs
    const endMs = endsNextDay ? endTimeMs + DAY_MS : endTimeMs
    return createDailyTimeline({ isOnWeekday, startMs, endMs, limits: NO_LIMITS }, zone)
  }

  // The start and the end may also be dates with times. The window then lasts all day, on
  // the days between them.
  const limits = readLimits(occurrence)
  const wholeDays = { isOnWeekday, startMs: 0, endMs: DAY_MS }
  if (isAllDay) {
    return createDailyTimeline({ ...wholeDays, limits: roundToDays(limits, zone) }, zone)
  }
  if (weekdays === '') return createPeriodTimeline([limits])
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
  return {
    start: Number.isFinite(start) ? startOfDay(toDay(start, zone), zone) : start,
    end: Number.isFinite(end) ? startOfDay(toDay(end - 1, zone) + 1, zone) : end,
  }
}

/** Creates the timeline of a window that recurs on days of the week. */
function createDailyTimeline(daily: DailyWindow, zone: TimeZone): Timeline {
  const { limits } = daily

  return {
    holdsAt(instant) {
      const today = toDay(instant, zone)
      const lastDay = today + MAX_DAYS_AHEAD
      for (let day = today - MAX_DAYS_BACK; day <= lastDay; day += 1) {
        const window = findWindow(daily, day, zone)
        if (window && window.start <= instant && instant < window.end) return true
      }
      return false
    },

    nextChange(instant) {
      if (instant >= limits.end) return undefined
      const firstDay = toDay(Math.max(instant, limits.start), zone) - MAX_DAYS_BACK
      const lastDay = firstDay + HORIZON_DAYS

      /**
       * End of the windows that follow each other without a gap from `instant` on. Undefined if
       * none of them holds at `instant`.
       */
      let endOfCurrent: number | undefined
      for (let day = firstDay; day <= lastDay; day += 1) {
        const window = findWindow(daily, day, zone)
        if (!window || window.end <= instant) continue

        if (endOfCurrent === undefined) {
          if (window.start > instant) return window.start
          endOfCurrent = window.end
        } else {
          const isAfterGap = window.start > endOfCurrent
          if (isAfterGap) return endOfCurrent
          endOfCurrent = Math.max(endOfCurrent, window.end)
        }
      }

      const hasEnd = endOfCurrent !== undefined && toDay(endOfCurrent, zone) < lastDay
      return hasEnd ? endOfCurrent : undefined
    },
  }
}

/** Returns the window that starts on this day, within its limits. */
function findWindow(
  { isOnWeekday, startMs, endMs, limits }: DailyWindow,
  day: number,
  zone: TimeZone,
): Period | undefined {
  const midnight = day * DAY_MS
  if (!isOnWeekday(new Date(midnight).getUTCDay())) return undefined

  const start = Math.max(zone.firstInstant(midnight + startMs), limits.start)
  const end = Math.min(zone.endInstant(midnight + endMs), limits.end)
  return start < end ? { start, end } : undefined
}

const startOfDay = (day: number, zone: TimeZone) => zone.firstInstant(day * DAY_MS)
