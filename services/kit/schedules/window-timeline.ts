import type { Schedule } from '@eyrie/contract/management/schedule'
import { DAY_MS, MINUTE_MS, type TimeZone } from './time-zone.ts'
import { createPeriodTimeline, type Period, type Timeline } from './timeline.ts'

export type Occurrence = Schedule['schedule_occurrence'][number]

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** A window without interruption for so long counts as one without an end. */
const HORIZON_DAYS = 400

/** A window that recurs on days of the week. */
interface DailyWindow {
  isOnWeekday: (weekday: number) => boolean
  /** Time since midnight on the clock. */
  startMs: number
  /** Greater than `startMs`. After the next midnight, the window ends on the following day. */
  endMs: number
  /** The window exists only between these instants. */
  limits: Period
}

/**
 * The times of an occurrence of type `window`. A window belongs to the day on which it starts. It lasts from the first moment at
 * which the clock shows the start or a later time, until the last one at which it shows a time before the end.
 */
export function createWindowTimeline(occurrence: Occurrence, zone: TimeZone): Timeline {
  const { occurrence_constraint: days, occurrence_is_allday: isAllDay } = occurrence
  const start = parseTimeOfDay(occurrence.occurrence_start_time)
  const end = parseTimeOfDay(occurrence.occurrence_end_time)
  const isOnWeekday = parseWeekdays(days)

  if (isAllDay)
    return createDailyTimeline(
      { isOnWeekday, startMs: 0, endMs: DAY_MS, limits: roundToDays(readLimits(occurrence), zone) },
      zone,
    )
  if (start === undefined || end === undefined) {
    const limits = readLimits(occurrence)
    if (days === '') return createPeriodTimeline([limits])
    return createDailyTimeline({ isOnWeekday, startMs: 0, endMs: DAY_MS, limits }, zone)
  }
  const limits = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }
  const endMs = end > start ? end : end + DAY_MS
  return createDailyTimeline({ isOnWeekday, startMs: start, endMs, limits }, zone)
}

function parseTimeOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? []
  return hours === undefined ? undefined : (Number(hours) * 60 + Number(minutes)) * MINUTE_MS
}

function parseWeekdays(constraint: string): (weekday: number) => boolean {
  if (constraint === '') return () => true
  const names = constraint.split(',').map(day => day.trim().toLowerCase())
  return weekday => names.includes(WEEKDAYS[weekday]!)
}

/** Returns the period of a window with RFC 3339 times. A missing time is no limit. */
function readLimits({ occurrence_start_time: start, occurrence_end_time: end }: Occurrence): Period {
  const parse = (text: string, missing: number) => (/^\d{4}-/.test(text) ? Date.parse(text) : missing)
  return { start: parse(start, Number.NEGATIVE_INFINITY), end: parse(end, Number.POSITIVE_INFINITY) }
}

/** Extends a period to the beginning of its first and the end of its last day. */
function roundToDays({ start, end }: Period, zone: TimeZone): Period {
  const day = (instant: number) => Math.floor(zone.toWall(instant) / DAY_MS) * DAY_MS
  return {
    start: Number.isFinite(start) ? zone.firstInstant(day(start)) : start,
    end: Number.isFinite(end) ? zone.firstInstant(day(end - 1) + DAY_MS) : end,
  }
}

function createDailyTimeline({ isOnWeekday, startMs, endMs, limits }: DailyWindow, zone: TimeZone): Timeline {
  const dayOf = (instant: number) => Math.floor(zone.toWall(instant) / DAY_MS)

  /** The window that starts on a day, numbered from 1 January 1970, a Thursday. */
  function findPeriod(day: number): Period | undefined {
    if (!isOnWeekday((((day + 4) % 7) + 7) % 7)) return undefined
    const start = Math.max(zone.firstInstant(day * DAY_MS + startMs), limits.start)
    const end = Math.min(zone.endInstant(day * DAY_MS + endMs), limits.end)
    return start < end ? { start, end } : undefined
  }

  return {
    holdsAt(instant) {
      const today = dayOf(instant)
      // The clock may have been put back across midnight, so that a window of tomorrow has started.
      for (let day = today - 2; day <= today + 1; day += 1) {
        const period = findPeriod(day)
        if (period && period.start <= instant && instant < period.end) return true
      }
      return false
    },
    nextChange(instant) {
      if (instant >= limits.end) return undefined
      const firstDay = dayOf(Math.max(instant, limits.start)) - 2
      /** The end of the windows that follow each other without interruption, from `instant`. */
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
