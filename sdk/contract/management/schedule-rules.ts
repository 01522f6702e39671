import { z } from 'zod'
import { timestamp } from './record-fields.ts'
import { schedule, scheduleType } from './schedule.ts'

/**
 * The internal API by which the scheduler reads the schedules of alerts from management, and
 * reports which alerts they arm.
 */

/**
 * An event of a calendar: dates, local times, or times in UTC that end with `Z`. The end is
 * exclusive.
 */
export const calendarEvent = z.strictObject({ start: z.string(), end: z.string() })
export type CalendarEvent = z.infer<typeof calendarEvent>

/** Whether a schedule is disarmed or armed during the events of a calendar. */
export const exceptionType = z.enum(['disarm', 'arm'])

/**
 * An active schedule. Its exceptions refer to calendars by id, because several schedules
 * can share a calendar.
 */
const activeSchedule = z.strictObject({
  schedule_id: z.uuid(),
  schedule_type: scheduleType,
  occurrences: schedule.shape.schedule_occurrence,
  exceptions: z.array(z.strictObject({ exception_type: exceptionType, calendar_id: z.uuid() })),
})
type ActiveSchedule = z.infer<typeof activeSchedule>

/** An active schedule, with the events of the calendars instead of references to calendars. */
export interface ScheduleRule extends Omit<ActiveSchedule, 'exceptions'> {
  exceptions: { exception_type: z.infer<typeof exceptionType>; events: readonly CalendarEvent[] }[]
}

/** The active schedules of an alert. */
export const alertSchedules = z.strictObject({
  alert_id: z.uuid(),
  timezone: z.string(),
  schedules: z.array(activeSchedule),
})
export type AlertSchedules = z.infer<typeof alertSchedules>

/** All alerts with active schedules, and the calendars that the schedules refer to. */
export const scheduleRules = {
  path: '/scheduler/schedules',
  response: z.strictObject({
    alerts: z.array(alertSchedules),
    calendars: z.array(z.strictObject({ calendar_id: z.uuid(), events: z.array(calendarEvent) })),
  }),
}
export type ScheduleRules = z.infer<typeof scheduleRules.response>

/** An alert with its schedules as rules. */
interface AlertRules extends Omit<AlertSchedules, 'schedules'> {
  rules: ScheduleRule[]
}

/** Replaces the references to calendars in the schedules of all alerts with their events. */
export function resolveCalendars({ alerts, calendars }: ScheduleRules): AlertRules[] {
  const eventsByCalendar = new Map(
    calendars.map(({ calendar_id, events }) => [calendar_id, events]),
  )
  const toRule = ({ exceptions, ...schedule }: ActiveSchedule): ScheduleRule => ({
    ...schedule,
    exceptions: exceptions.map(({ exception_type, calendar_id }) => ({
      exception_type,
      events: eventsByCalendar.get(calendar_id) ?? [],
    })),
  })
  return alerts.map(({ schedules, ...alert }) => ({ ...alert, rules: schedules.map(toRule) }))
}

/** Whether an alert is armed, and for how long. An alert fires only while it is armed. */
export const armedState = z.strictObject({
  alert_id: z.uuid(),
  is_armed: z.boolean(),
  /** The schedules from which the state was computed. */
  schedule_ids: z.array(z.uuid()),
  /** Start of the time range in which the state is valid. */
  valid_from: timestamp,
  /** End of this range. */
  valid_until: timestamp,
  /** When `is_armed` changes; null if no change is foreseeable. */
  next_change_at: timestamp.nullable(),
})
export type ArmedAlertState = z.infer<typeof armedState>

const MAX_STATES = 1000

/** Reports which alerts are armed. */
export const armedStates = {
  path: '/scheduler/schedules/armed',
  body: z.strictObject({ states: z.array(armedState).max(MAX_STATES) }),
}

/**
 * Waits until schedules have changed since `version`, for a few seconds at most. Returns
 * the current version.
 */
export const scheduleChanges = {
  path: '/scheduler/schedules/changes',
  query: z.strictObject({ version: z.coerce.number().int() }),
  response: z.strictObject({ version: z.int() }),
}
