import type { Schedule } from '@eyrie/contract/management/schedule'
import type { AlertSchedules, ScheduleRules } from '@eyrie/contract/management/schedule-rules'
import { and, asc, eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { calendar, channel, schedule, scheduleException, site } from '../db/schema/index.ts'
import { isAnyOf } from '../db/text-array.ts'

/**
 * Loads the active schedules of all alerts, or of the given alerts, with the calendars that make
 * exceptions from them.
 */
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

  const rowsByAlert = Map.groupBy(rows, row => row.schedule.alert_id)
  const alerts = Array.from(
    rowsByAlert,
    ([alertId, alertRows]): AlertSchedules => ({
      alert_id: alertId,
      // An alert has one site, so its rows have the same time zone.
      timezone: alertRows[0]!.timezone,
      schedules: alertRows.map(row =>
        toRule(row.schedule, exceptionsBySchedule.get(row.schedule.schedule_id) ?? []),
      ),
    }),
  )
  return { alerts, calendars: await loadCalendars(tx, exceptions) }
}

/**
 * Converts a schedule and its exceptions. The casts are safe, because constraints and the API
 * admit only valid values.
 */
const toRule = (
  row: typeof schedule.$inferSelect,
  exceptions: readonly (typeof scheduleException.$inferSelect)[],
): AlertSchedules['schedules'][number] => ({
  schedule_id: row.schedule_id,
  schedule_type: row.schedule_type as 'cron' | 'window',
  occurrences: row.schedule_occurrence as Schedule['schedule_occurrence'],
  exceptions: exceptions.map(exception => ({
    exception_type: exception.exception_type as 'arm' | 'disarm',
    calendar_id: exception.calendar_id,
  })),
})

/** Returns the calendars to which exceptions refer, with their events. */
async function loadCalendars(tx: Transaction, exceptions: readonly { calendar_id: string }[]) {
  const ids = [...new Set(exceptions.map(({ calendar_id }) => calendar_id))]
  if (ids.length === 0) return []
  const rows = await tx.select().from(calendar).where(isAnyOf(calendar.calendar_id, ids))
  return rows.map(({ calendar_id: calendarId, calendar_events: calendarEvents }) => ({
    calendar_id: calendarId,
    events: calendarEvents.map(({ start, end }) => ({ start, end })),
  }))
}
