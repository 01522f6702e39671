import { asc, eq, type SQL } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { reportSchedule, site } from '../../db/schema/index.ts'
import type { ReportTimes } from './report-times.ts'

type ScheduleRow = typeof reportSchedule.$inferSelect

/** A schedule with the time zone of its site. */
export interface ScheduledReport extends ScheduleRow {
  timeZone: string
}

/** Reads the schedules that meet a condition, by name. */
export async function readSchedules(tx: Transaction, condition?: SQL): Promise<ScheduledReport[]> {
  const rows = await tx
    .select({ schedule: reportSchedule, timeZone: site.site_timezone })
    .from(reportSchedule)
    .innerJoin(site, eq(site.site_id, reportSchedule.site_id))
    .where(condition)
    .orderBy(asc(reportSchedule.report_name), asc(reportSchedule.report_schedule_id))
  return rows.map(({ schedule, timeZone }) => ({ ...schedule, timeZone }))
}

/** Returns when the reports of a schedule are sent. */
export const toReportTimes = (schedule: ScheduledReport): ReportTimes => ({
  every: schedule.report_every,
  time: schedule.report_time,
  timeZone: schedule.timeZone,
})
