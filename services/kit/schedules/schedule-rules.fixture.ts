import type { ScheduleRule } from '@eyrie/contract/management/schedule-rules'
import { type ArmedTimeline, createArmedTimeline } from './armed-timeline.ts'
import type { Occurrence } from './window-timeline.ts'

// Short forms of schedule rules, and of the changes that they cause, for tests.

/** An occurrence without times. */
export const none: Occurrence = {
  occurrence_id: 1,
  occurrence_activate_cron: '',
  occurrence_deactivate_cron: '',
  occurrence_constraint: '',
  occurrence_start_time: '',
  occurrence_end_time: '',
  occurrence_is_allday: false,
}
/**
 * Times of day such as `08:00`, or RFC 3339 times. `days` are weekdays such as `mon,tue`;
 * all of them if empty.
 */
export const window = (start: string, end: string, days = ''): Occurrence => ({
  ...none,
  occurrence_start_time: start,
  occurrence_end_time: end,
  occurrence_constraint: days,
})
/** Whole days, from midnight to midnight. */
export const allDay = (days = '', overrides: Partial<Occurrence> = {}): Occurrence => ({
  ...none,
  occurrence_is_allday: true,
  occurrence_constraint: days,
  ...overrides,
})
/** Cron expressions, each of which may be empty. */
export const cron = (activate: string, deactivate: string): Occurrence => ({
  ...none,
  occurrence_activate_cron: activate,
  occurrence_deactivate_cron: deactivate,
})

/** A schedule with these occurrences. Its type follows from them. */
export const rule = (
  occurrences: Occurrence[],
  overrides: Partial<ScheduleRule> = {},
): ScheduleRule => ({
  schedule_id: 'schedule',
  schedule_type: occurrences.some(isCron) ? 'cron' : 'window',
  occurrences,
  exceptions: [],
  ...overrides,
})

const isCron = ({ occurrence_activate_cron, occurrence_deactivate_cron }: Occurrence) =>
  occurrence_activate_cron !== '' || occurrence_deactivate_cron !== ''

/**
 * Lists the times at which a timeline becomes armed (+) and disarmed (-) in a period:
 * `+2026-06-05T20:00`.
 */
export function describeChanges(timeline: ArmedTimeline, from: string, to: string): string[] {
  const changes = []
  let at = timeline.stateAt(Date.parse(from)).nextChange
  while (at !== undefined && at < Date.parse(to)) {
    const { isArmed, nextChange } = timeline.stateAt(at)
    changes.push(`${isArmed ? '+' : '-'}${new Date(at).toISOString().slice(0, 16)}`)
    at = nextChange
  }
  return changes
}

/** Lists the changes of a schedule with these occurrences in a time zone. */
export const changes = (zone: string, from: string, to: string, ...occurrences: Occurrence[]) =>
  describeChanges(createArmedTimeline([rule(occurrences)], zone), from, to)
