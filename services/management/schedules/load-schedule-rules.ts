import type { Schedule } from '@eyrie/contract/management/schedule'
import type { AlertSchedules, ScheduleRules } from '@eyrie/contract/management/schedule-rules'
import { and, asc, eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { calendar, channel, schedule, scheduleException, site } from '../db/schema/index.ts'
import { isAnyOf } from '../db/text-array.ts'

/** Loads the active schedules of all alerts, or of these alerts, with the calendars that they refer to. */
export async function loadScheduleRules(
  tx: Transaction,
  alertIds?: readonly string[],
): Promise<ScheduleRules> {
  const rows = await tx
    .select({ schedule, timezone: site.site_timezone })
    .from(schedule)
    .innerJoin(channel, eq(channel.channel_id, schedule.channel_id))
    .innerJoin(site, eq(site.site_id, channel.site_id))
    .where(and(eq(schedule.is_active, true), alertIds && isAnyOf(schedule.alert_id, alertIds)))
    .orderBy(asc(schedule.alert_id), asc(schedule.schedule_id))
  if (rows.length === 0) return { alerts: [], calendars: [] }

  const scheduleIds = rows.map(row => row.schedule.schedule_id)
  const exceptions = await tx
    .select()
    .from(scheduleException)
    .where(isAnyOf(scheduleException.schedule_id, scheduleIds))
    .orderBy(asc(scheduleException.exception_id))
  const exceptionsBySchedule = Map.groupBy(exceptions, ({ schedule_id }) => schedule_id)

  const toRule = ({
    schedule: {
      schedule_id: scheduleId,
      schedule_type: scheduleType,
      schedule_occurrence: scheduleOccurrence,
    },
  }: (typeof rows)[number]) => ({
    schedule_id: scheduleId,
    // Constraints and the API admit only valid schedules and exceptions.
    schedule_type: scheduleType as 'cron' | 'window',
    occurrences: scheduleOccurrence as Schedule['schedule_occurrence'],
    exceptions: (exceptionsBySchedule.get(scheduleId) ?? []).map(
      ({ exception_type: exceptionType, calendar_id }) => ({
        exception_type: exceptionType as 'arm' | 'disarm',
        calendar_id,
      }),
    ),
  })
  const rowsByAlert = Map.groupBy(rows, row => row.schedule.alert_id)
  const alerts = [...rowsByAlert].map(
    ([alertId, alertRows]): AlertSchedules => ({
      alert_id: alertId,
      timezone: alertRows[0]!.timezone,
      schedules: alertRows.map(toRule),
    }),
  )
  return { alerts, calendars: await loadCalendars(tx, exceptions) }
}

async function loadCalendars(tx: Transaction, exceptions: readonly { calendar_id: string }[]) {
  const ids = [...new Set(exceptions.map(({ calendar_id }) => calendar_id))]
  if (ids.length === 0) return []
  const rows = await tx.select().from(calendar).where(isAnyOf(calendar.calendar_id, ids))
  return rows.map(({ calendar_id, calendar_events: calendarEvents }) => ({
    calendar_id,
    events: calendarEvents.map(({ start, end }) => ({ start, end })),
  }))
}
