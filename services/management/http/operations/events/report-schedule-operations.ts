import { type ReportSchedule, reportScheduleRoutes } from '@eyrie/contract/management/report-schedule'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { reportSchedule, site } from '../../../db/schema/index.ts'
import { assertChannelsOnSite } from '../../../reports/create-report.ts'
import { findLastDueDay, findNextSendingTime } from '../../../reports/scheduled/report-times.ts'
import {
  readSchedules,
  type ScheduledReport,
  sendReportNow,
  toReportTimes,
} from '../../../reports/scheduled/send-reports.ts'
import type { Principal } from '../../../rights/principal.ts'
import { defineLookup, defineMultiStepOperation, defineOperation, type Input } from '../../api/operation.ts'
import { assertChanged, assertReferencesExist } from '../../api/references.ts'

/** API operations on scheduled reports. `now` returns epoch ms. */
export const reportScheduleOperations = (now: () => number) => [
  defineOperation(reportScheduleRoutes.create, async ({ input, caller }, tx) => {
    await assertChannelsOnSite(tx, input.channel_ids, input.site_id)
    const lastDay = await findLastPastDay(tx, input, now())
    const [created] = await tx
      .insert(reportSchedule)
      .values({ ...input, ...toOwner(caller, now()), last_day: lastDay })
      .returning({ report_schedule_id: reportSchedule.report_schedule_id })
    return { created: created!.report_schedule_id }
  }),

  defineOperation(
    reportScheduleRoutes.update,
    async ({ input: { report_schedule_id: reportScheduleId, ...input }, caller }, tx) => {
      await assertChannelsOnSite(tx, input.channel_ids, input.site_id)
      const hasId = eq(reportSchedule.report_schedule_id, reportScheduleId)
      const [before] = await tx.select().from(reportSchedule).where(hasId).for('update')
      // Without rights to change the schedule, no row is selected, and `assertChanged` throws.
      const lastDay = before && (await findLastDayAfterUpdate(tx, before, input, now()))
      assertChanged(
        await tx
          .update(reportSchedule)
          .set({ ...input, ...toOwner(caller, now()), last_day: lastDay, report_problem: '' })
          .where(hasId)
          .returning(),
      )
      return undefined
    },
  ),

  defineOperation(
    reportScheduleRoutes.delete,
    async ({ input: { report_schedule_id: reportScheduleId } }, tx) => {
      const hasId = eq(reportSchedule.report_schedule_id, reportScheduleId)
      assertChanged(await tx.delete(reportSchedule).where(hasId).returning())
      return undefined
    },
  ),

  defineLookup(reportScheduleRoutes.get, async ({ input: { report_schedule_id: reportScheduleId } }, tx) => {
    const [row] = await readSchedules(tx, eq(reportSchedule.report_schedule_id, reportScheduleId))
    return row && toReportSchedule(row, now())
  }),

  defineOperation(reportScheduleRoutes.list, async ({ input: { site_id: siteId } }, tx) => {
    const rows = await readSchedules(tx, eq(reportSchedule.site_id, siteId))
    return { value: rows.map(row => toReportSchedule(row, now())) }
  }),

  defineMultiStepOperation(reportScheduleRoutes.send, async ({ input, caller }, database) => {
    await database.as(caller, reportScheduleRoutes.send.path, tx =>
      assertReferencesExist(tx, reportScheduleRoutes.send, input),
    )
    return { created: await sendReportNow(database, input.report_schedule_id, now()) }
  }),
]

/** Returns the columns about the caller who saves a schedule. The reports are created with the rights of this user. */
const toOwner = ({ user_id, actor }: Principal, nowMs: number) => ({
  user_id,
  saved_by: actor,
  saved_at: new Date(nowMs),
})

type ScheduleTimes = Pick<
  Input<typeof reportScheduleRoutes.create>,
  'site_id' | 'report_every' | 'report_time' | 'is_active'
>

/**
 * Returns the last day of the last period for which a report is already due. It becomes the `last_day` of a new schedule, which is the
 * last day that counts as reported. The first report is therefore about the current day, week or month.
 */
async function findLastPastDay(
  tx: Transaction,
  { site_id: siteId, report_every: reportEvery, report_time: reportTime }: ScheduleTimes,
  nowMs: number,
): Promise<string> {
  const [siteRow] = await tx.select().from(site).where(eq(site.site_id, siteId))
  // The API has checked that the site exists.
  return findLastDueDay({ every: reportEvery, time: reportTime, timeZone: siteRow!.site_timezone }, nowMs)
}

/** Returns the `last_day` of an updated schedule. If it was inactive or had other periods, no past period is reported. */
async function findLastDayAfterUpdate(
  tx: Transaction,
  before: typeof reportSchedule.$inferSelect,
  input: ScheduleTimes,
  nowMs: number,
): Promise<string> {
  if (before.is_active && before.report_every === input.report_every) return before.last_day
  const lastPastDay = await findLastPastDay(tx, input, nowMs)
  return lastPastDay > before.last_day ? lastPastDay : before.last_day
}

const toReportSchedule = (row: ScheduledReport, nowMs: number): ReportSchedule => ({
  ...row,
  next_report_at: row.is_active
    ? new Date(findNextSendingTime(toReportTimes(row), row.last_day, nowMs)).toISOString()
    : null,
})
