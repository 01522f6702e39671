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

const routes = reportScheduleRoutes

/** API operations on scheduled reports. `now` returns epoch ms. */
export const reportScheduleOperations = (now: () => number) => [
  defineOperation(routes.create, async ({ input, caller }, tx) => {
    await assertChannelsOnSite(tx, input.channel_ids, input.site_id)
    const last_day = await findFirstLastDay(tx, input, now())
    const [created] = await tx
      .insert(reportSchedule)
      .values({ ...input, ...toOwner(caller, now()), last_day })
      .returning({ report_schedule_id: reportSchedule.report_schedule_id })
    return { created: created!.report_schedule_id }
  }),

  defineOperation(routes.update, async ({ input: { report_schedule_id, ...input }, caller }, tx) => {
    await assertChannelsOnSite(tx, input.channel_ids, input.site_id)
    const hasId = eq(reportSchedule.report_schedule_id, report_schedule_id)
    const [before] = await tx.select().from(reportSchedule).where(hasId).for('update')
    const last_day = before && (await findLastDayAfterUpdate(tx, before, input, now()))
    assertChanged(
      await tx
        .update(reportSchedule)
        .set({ ...input, ...toOwner(caller, now()), last_day, report_problem: '' })
        .where(hasId)
        .returning(),
    )
    return undefined
  }),

  defineOperation(routes.delete, async ({ input: { report_schedule_id } }, tx) => {
    const hasId = eq(reportSchedule.report_schedule_id, report_schedule_id)
    assertChanged(await tx.delete(reportSchedule).where(hasId).returning())
    return undefined
  }),

  defineLookup(routes.id, async ({ input: { report_schedule_id } }, tx) => {
    const [row] = await readSchedules(tx, eq(reportSchedule.report_schedule_id, report_schedule_id))
    return row && toReportSchedule(row, now())
  }),

  defineOperation(routes.list, async ({ input: { site_id } }, tx) => {
    const rows = await readSchedules(tx, eq(reportSchedule.site_id, site_id))
    return { value: rows.map(row => toReportSchedule(row, now())) }
  }),

  defineMultiStepOperation(routes.send, async ({ input, caller }, database) => {
    await database.as(caller, routes.send.path, tx => assertReferencesExist(tx, routes.send, input))
    return { created: await sendReportNow(database, input.report_schedule_id, now()) }
  }),
]

/** The report is created with the rights of the person who has saved its schedule. */
const toOwner = ({ user_id, actor }: Principal, now: number) => ({
  user_id,
  saved_by: actor,
  saved_at: new Date(now),
})

type Times = Pick<Input<typeof routes.create>, 'site_id' | 'report_every' | 'report_time' | 'is_active'>

/** Returns the day after which a new schedule reports: the first report is about the current day, week or month. */
async function findFirstLastDay(
  tx: Transaction,
  { site_id, report_every, report_time }: Times,
  now: number,
): Promise<string> {
  const [place] = await tx.select().from(site).where(eq(site.site_id, site_id))
  return findLastDueDay({ every: report_every, time: report_time, timeZone: place!.site_timezone }, now)
}

/** A schedule that was inactive, or had other periods, does not report those of the past. */
async function findLastDayAfterUpdate(
  tx: Transaction,
  before: typeof reportSchedule.$inferSelect,
  input: Times,
  now: number,
): Promise<string> {
  if (before.is_active && before.report_every === input.report_every) return before.last_day
  const lastDue = await findFirstLastDay(tx, input, now)
  return lastDue > before.last_day ? lastDue : before.last_day
}

const toReportSchedule = (row: ScheduledReport, now: number): ReportSchedule => ({
  ...row,
  next_report_at: row.is_active
    ? new Date(findNextSendingTime(toReportTimes(row), row.last_day, now)).toISOString()
    : null,
})
