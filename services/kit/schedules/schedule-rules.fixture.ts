import type { ScheduleRule } from '@eyrie/contract/management/schedule-rules'
import { type ArmedTimeline, createArmedTimeline } from './armed-timeline.ts'
import type { Occurrence } from './window-timeline.ts'

export const none: Occurrence = {
  occurrence_id: 1,
  occurrence_activate_cron: '',
  occurrence_deactivate_cron: '',
  occurrence_constraint: '',
  occurrence_start_time: '',
  occurrence_end_time: '',
  occurrence_is_allday: false,
}
export const window = (start: string, end: string, days = ''): Occurrence => ({
  ...none,
  occurrence_start_time: start,
  occurrence_end_time: end,
  occurrence_constraint: days,
})
export const allDay = (days = '', more: Partial<Occurrence> = {}): Occurrence => ({
  ...none,
  occurrence_is_allday: true,
  occurrence_constraint: days,
  ...more,
})
export const cron = (activate: string, deactivate: string): Occurrence => ({
  ...none,
  occurrence_activate_cron: activate,
  occurrence_deactivate_cron: deactivate,
})

export const rule = (occurrences: Occurrence[], more: Partial<ScheduleRule> = {}): ScheduleRule => ({
  schedule_id: 'schedule',
  schedule_type: occurrences.some(
    ({ occurrence_activate_cron: on, occurrence_deactivate_cron: off }) => on || off,
  )
    ? 'cron'
    : 'window',
  occurrences,
  exceptions: [],
  ...more,
})

/** The changes of a timeline in a period: the times at which it becomes armed (+) and disarmed (-). */
export function describeChanges(timeline: ArmedTimeline, from: string, to: string): string[] {
  const changes = []
  for (let at = timeline.stateAt(Date.parse(from)).nextChange; at !== undefined && at < Date.parse(to); ) {
    const { isArmed, nextChange } = timeline.stateAt(at)
    changes.push(`${isArmed ? '+' : '-'}${new Date(at).toISOString().slice(0, 16)}`)
    at = nextChange
  }
  return changes
}

export const changes = (zone: string, from: string, to: string, ...occurrences: Occurrence[]) =>
  describeChanges(createArmedTimeline([rule(occurrences)], zone), from, to)
