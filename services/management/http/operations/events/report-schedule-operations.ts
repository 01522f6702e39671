import {
  type ReportSchedule,
  reportScheduleRoutes,
} from '@eyrie/contract/management/report-schedule'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { reportSchedule, site } from '../../../db/schema/index.ts'
import { assertChannelsOnSite } from '../../../reports/create-report.ts'
import { findLastDueDay, findNextSendingTime } from '../../../reports/scheduled/report-times.ts'
import {
  readSchedules,
  type ScheduledReport,
  toReportTimes,
} from '../../../reports/scheduled/scheduled-report.ts'
import { sendReportNow } from '../../../reports/scheduled/send-reports.ts'
import type { Principal } from '../../../rights/principal.ts'
import {
  defineLookup,
  defineMultiStepOperation,
  defineOperation,
  type Input,
} from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'
import { assertReferencesExist } from '../../api/references.ts'

/** API operations on scheduled reports. `nowMs` returns epoch ms. */
export const reportScheduleOperations = (nowMs: () => number) => [
  defineOperation(reportScheduleRoutes.create, async ({ input, caller }, tx) => {
    await assertChannelsOnSite(tx, input.channel_ids, input.site_id)
    const lastDay = await findInitialLastDay(tx, input, nowMs())
    const created = firstRow(
      await tx
        .insert(reportSchedule)
        .values({ ...input, ...toSavedColumns(caller, nowMs()), last_day: lastDay })
        .returning({ report_schedule_id: reportSchedule.report_schedule_id }),
    )
    return { createdId: created.report_schedule_id }
  }),

  defineOperation(reportScheduleRoutes.update, async ({ input, caller }, tx) => {
    const { report_schedule_id: reportScheduleId, ...fields } = input
    await assertChannelsOnSite(tx, fields.channel_ids, fields.site_id)
    const condition = eq(reportSchedule.report_schedule_id, reportScheduleId)
    const lockedRows = await tx.select().from(reportSchedule).where(condition).for('update')
    // Without a row, the caller may not change the schedule: Postgres locks only rows that may be
    // changed.
    const before = assertChanged(lockedRows)
    const lastDay = await findLastDayAfterUpdate(tx, { before, fields }, nowMs())
    await tx
      .update(reportSchedule)
      .set({ ...fields, ...toSavedColumns(caller, nowMs()), last_day: lastDay, report_problem: '' })
      .where(condition)
  }),

  defineOperation(reportScheduleRoutes.delete, async ({ input }, tx) => {
    const condition = eq(reportSchedule.report_schedule_id, input.report_schedule_id)
    assertChanged(await tx.delete(reportSchedule).where(condition).returning())
  }),

  defineLookup(reportScheduleRoutes.get, async ({ input }, tx) => {
    const [row] = await readSchedules(
      tx,
      eq(reportSchedule.report_schedule_id, input.report_schedule_id),
    )
    return row && toReportSchedule(row, nowMs())
  }),

  defineOperation(reportScheduleRoutes.list, async ({ input }, tx) => {
    const rows = await readSchedules(tx, eq(reportSchedule.site_id, input.site_id))
    return { value: rows.map(row => toReportSchedule(row, nowMs())) }
  }),

  defineMultiStepOperation(reportScheduleRoutes.send, async ({ input, caller }, database) => {
    await database.as(caller, reportScheduleRoutes.send.path, tx =>
      assertReferencesExist(tx, reportScheduleRoutes.send, input),
    )
    return { createdId: await sendReportNow(database, input.report_schedule_id, nowMs()) }
  }),
]

/**
 * Returns who saves a schedule, and when. The reports are created with the rights of this user.
 */
const toSavedColumns = ({ user_id, actor }: Principal, nowMs: number) => ({
  user_id,
  saved_by: actor,
  saved_at: new Date(nowMs),
})

type ScheduleTimes = Pick<
  Input<typeof reportScheduleRoutes.create>,
  'site_id' | 'report_every' | 'report_time' | 'is_active'
>

/**
 * Returns the `last_day` of a new schedule, the last day that counts as reported. Periods for which
 * a report would be due already count as reported. The first report is therefore about the current
 * day, week or month.
 */
async function findInitialLastDay(
  tx: Transaction,
  { site_id: siteId, report_every: reportEvery, report_time: reportTime }: ScheduleTimes,
  nowMs: number,
): Promise<string> {
  // The API has checked that the site exists.
  const siteRow = firstRow(await tx.select().from(site).where(eq(site.site_id, siteId)))
  const times = { every: reportEvery, time: reportTime, timeZone: siteRow.site_timezone }
  return findLastDueDay(times, nowMs)
}

/**
 * Returns the `last_day` of an updated schedule. If the schedule was inactive or the update changes
 * its periods, past periods are not reported.
 */
async function findLastDayAfterUpdate(
  tx: Transaction,
  { before, fields }: { before: typeof reportSchedule.$inferSelect; fields: ScheduleTimes },
  nowMs: number,
): Promise<string> {
  if (before.is_active && before.report_every === fields.report_every) return before.last_day
  const initialLastDay = await findInitialLastDay(tx, fields, nowMs)
  return initialLastDay > before.last_day ? initialLastDay : before.last_day
}

const toReportSchedule = (row: ScheduledReport, nowMs: number): ReportSchedule => ({
  ...row,
  next_report_at: row.is_active
    ? new Date(findNextSendingTime(toReportTimes(row), row.last_day, nowMs)).toISOString()
    : null,
})
