import type { CalendarEvent, ScheduleRule } from '@eyrie/contract/management/schedule-rules'
import { createCronTimeline } from './cron-timeline.ts'
import { getTimeZone, type TimeZone } from './time-zone.ts'
import {
  combineTimelines,
  createPeriodTimeline,
  type Period,
  type Timeline,
  unionTimelines,
} from './timeline.ts'
import { createWindowTimeline } from './window-timeline.ts'

/** Whether an alert is armed by its schedules: only an armed alert sends notifications. */
export interface ArmedState {
  isArmed: boolean
  /** The schedules that arm the alert at this time. */
  scheduleIds: string[]
  /** When `isArmed` changes, in epoch ms. Undefined if no change is foreseeable. */
  nextChange: number | undefined
}

/** When an alert is armed. Instants are epoch ms. */
export interface ArmedTimeline {
  isArmedAt(instant: number): boolean
  stateAt(instant: number): ArmedState
}

/**
 * Creates the timeline of an alert from its active schedules and the time zone of its site. The
 * alert is armed while any schedule holds. Without schedules it is always armed.
 */
export function createArmedTimeline(
  rules: readonly ScheduleRule[],
  timezone: string,
): ArmedTimeline {
  const zone = getTimeZone(timezone)
  const schedules = rules
    .filter(hasTimes)
    .map(rule => ({ id: rule.schedule_id, timeline: createScheduleTimeline(rule, zone) }))
  const union = unionTimelines(schedules.map(({ timeline }) => timeline))
  const isArmedAt = (instant: number) => schedules.length === 0 || union.holdsAt(instant)
  return {
    isArmedAt,
    stateAt(instant) {
      const holding = schedules.filter(({ timeline }) => timeline.holdsAt(instant))
      return {
        isArmed: isArmedAt(instant),
        scheduleIds: holding.map(({ id }) => id),
        nextChange: union.nextChange(instant),
      }
    },
  }
}

/**
 * Whether a schedule names any time. If a schedule without times were not ignored, it would silence
 * the alert for ever.
 */
const hasTimes = ({ occurrences, exceptions }: ScheduleRule) =>
  occurrences.length > 0 || exceptions.some(({ exception_type }) => exception_type === 'arm')

/**
 * The times of a schedule with its exceptions. An exception that arms prevails over one that
 * disarms.
 */
function createScheduleTimeline(rule: ScheduleRule, zone: TimeZone): Timeline {
  const { schedule_type, occurrences, exceptions } = rule
  const base =
    schedule_type === 'cron'
      ? createCronTimeline(occurrences, zone)
      : unionTimelines(occurrences.map(occurrence => createWindowTimeline(occurrence, zone)))
  if (exceptions.length === 0) return base

  const createExceptions = (type: 'arm' | 'disarm') => {
    const events = exceptions
      .filter(({ exception_type }) => exception_type === type)
      .flatMap(({ events }) => events)
    return createPeriodTimeline(events.map(event => toPeriod(event, zone)))
  }
  const armed = createExceptions('arm')
  const disarmed = createExceptions('disarm')
  return combineTimelines(
    [base, armed, disarmed],
    instant => armed.holdsAt(instant) || (base.holdsAt(instant) && !disarmed.holdsAt(instant)),
  )
}

/**
 * Converts an event to a period. Its start and end are in UTC, or else dates or
 * local times of the site.
 */
function toPeriod({ start, end }: CalendarEvent, zone: TimeZone): Period {
  const isUtc = start.endsWith('Z')
  if (isUtc) return { start: Date.parse(start), end: Date.parse(end) }
  const toWall = (text: string) => Date.parse(text.includes('T') ? `${text}Z` : text)
  return { start: zone.firstInstant(toWall(start)), end: zone.endInstant(toWall(end)) }
}
