import { buffer } from 'node:stream/consumers'
import { EyrieError } from '@eyrie/contract'
import { REPORT_MEDIA_TYPES } from '@eyrie/contract/management/report'
import { and, asc, eq, type SQL } from 'drizzle-orm'
import { v7 } from 'uuid'
import type { Database, Transaction } from '../../db/database.ts'
import { reportSchedule, report as reportTable, site } from '../../db/schema/index.ts'
import { storeDeliveries } from '../../deliveries/outbox.ts'
import { loadPrincipal } from '../../users/load-principal.ts'
import { createReport } from '../create-report.ts'
import { writeReport } from '../formats/write-report.ts'
import { createFileName, type Report } from '../report.ts'
import { findLastPeriod, type ReportPeriod } from '../report-period.ts'
import { createReportRequest } from './report-message.ts'
import { findDuePeriods, findLastDay, type ReportTimes } from './report-times.ts'

/** Mail servers commonly reject e-mails of more than 25 MB, and an attachment grows by a third. */
const MAX_FILE_BYTES = 15 << 20

type ScheduleRow = typeof reportSchedule.$inferSelect

/** A schedule with the time zone of its site. */
export interface ScheduledReport extends ScheduleRow {
  timeZone: string
}

export const toReportTimes = ({
  report_every: reportEvery,
  report_time: reportTime,
  timeZone,
}: ScheduledReport): ReportTimes => ({
  every: reportEvery,
  time: reportTime,
  timeZone,
})

export interface SentReports {
  sent: number
  /** Names of the reports that could not be created. Their schedules say why. */
  failed: string[]
}

/**
 * Stores the e-mails of all scheduled reports that are due at `now` (epoch ms), each period once.
 * A report that its owner may not create, or that is too large, is skipped, and the reason is
 * stored in its schedule.
 */
export async function sendDueReports(
  database: Database,
  now: number,
  signal: AbortSignal,
): Promise<SentReports> {
  const schedules = await database.system('reports', tx => readSchedules(tx), {
    accessMode: 'read only',
  })
  const result: SentReports = { sent: 0, failed: [] }
  for (const schedule of schedules.filter(({ is_active }) => is_active)) {
    const times = toReportTimes(schedule)
    let lastDay = schedule.last_day
    for (const period of findDuePeriods(times, lastDay, now)) {
      signal.throwIfAborted()
      const progress = { from: lastDay, to: findLastDay(period, times) }
      const isSent = await sendReport(database, schedule, period, now, progress)
      if (isSent) result.sent += 1
      else result.failed.push(schedule.report_name)
      lastDay = progress.to
    }
  }
  return result
}

/**
 * Sends the report about the last complete period, in addition to the reports of the schedule.
 * Returns the id of the first delivery. Throws `EyrieError` like `createReport`, and if the owner
 * of the schedule may not create the report.
 */
export async function sendReportNow(
  database: Database,
  reportScheduleId: string,
  now: number,
): Promise<string> {
  const [schedule] = await database.system('reports', tx =>
    readSchedules(tx, eq(reportSchedule.report_schedule_id, reportScheduleId)),
  )
  if (!schedule) throw new EyrieError('id', 'this scheduled report was deleted')
  const period = findLastPeriod({ count: 1, unit: schedule.report_every }, now, schedule.timeZone)
  const file = await createFile(database, schedule, period, now)
  const ids = await database.system('reports', tx => storeMessages(tx, schedule, file))
  // A schedule has at least one receiver.
  return ids[0]!
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

/** The `last_day` of a schedule before and after a report. */
interface Progress {
  from: string
  to: string
}

/**
 * Creates a report and stores its e-mails, or stores in its schedule why it could not be created.
 * Returns whether it was created.
 */
async function sendReport(
  database: Database,
  schedule: ScheduledReport,
  period: ReportPeriod,
  now: number,
  { from, to }: Progress,
): Promise<boolean> {
  const { file, problem = '' } = await tryToCreateFile(database, schedule, period, now)
  await database.system('reports', async tx => {
    // Updates no row if another run has sent the report, or a person has changed the
    // schedule in the meantime.
    const [claimed] = await tx
      .update(reportSchedule)
      .set({ last_day: to, report_problem: problem })
      .where(
        and(
          eq(reportSchedule.report_schedule_id, schedule.report_schedule_id),
          eq(reportSchedule.last_day, from),
          eq(reportSchedule.saved_at, schedule.saved_at),
        ),
      )
      .returning({ last_day: reportSchedule.last_day })
    if (claimed && file) await storeMessages(tx, schedule, file)
  })
  return file !== undefined
}

/**
 * Creates the file of a report. Resolves to a `problem` if it can be created only after a
 * change of the schedule.
 */
async function tryToCreateFile(
  database: Database,
  schedule: ScheduledReport,
  period: ReportPeriod,
  now: number,
): Promise<{ file?: CreatedFile; problem?: string }> {
  try {
    return { file: await createFile(database, schedule, period, now) }
  } catch (error) {
    if (!(error instanceof EyrieError) || error.code === 'unavailable') throw error
    return { problem: error.message }
  }
}

interface CreatedFile {
  report: Report
  content: Buffer
}

/** Creates the file of a report with the rights of the person who saved the schedule. */
async function createFile(
  database: Database,
  schedule: ScheduledReport,
  period: ReportPeriod,
  now: number,
): Promise<CreatedFile> {
  const { site_id: siteId, user_id: userId } = schedule
  // The schedule has no user if that user was deleted.
  const owner = userId && (await database.system('reports', tx => loadPrincipal(tx, userId)))
  if (!owner || owner.role === null) throw createAccessError(schedule)
  const report = await database.as(
    owner,
    'reports',
    async tx => {
      const sites = await tx.select().from(site).where(eq(site.site_id, siteId))
      if (sites.length === 0) throw createAccessError(schedule)
      const { report } = await createReport(tx, toRequest(schedule, period), now)
      return report
    },
    { accessMode: 'read only' },
  )
  const content = await buffer(await writeReport(report, schedule.report_format))
  if (content.length > MAX_FILE_BYTES) {
    throw new EyrieError(
      'syntax',
      `the file has ${content.length} bytes, and an e-mail at most ${MAX_FILE_BYTES}: ` +
        'choose a longer report_interval, or fewer channels',
    )
  }
  return { report, content }
}

const createAccessError = ({ saved_by: savedBy }: ScheduledReport) =>
  new EyrieError(
    'conflict',
    `${savedBy} saved this schedule and has no access to the site any more: ` +
      'save it with /report/schedule/update, or delete it',
  )

const toRequest = (schedule: ScheduledReport, period: ReportPeriod) => ({
  title: schedule.report_name,
  site_id: schedule.site_id,
  channelIds: schedule.channel_ids,
  usecaseKeys: schedule.usecase_keys,
  statisticKeys: schedule.usecase_meta_key,
  interval: schedule.report_interval,
  isCompared: schedule.report_comparison,
  findPeriod: () => period,
})

/** Stores the file with an e-mail to each receiver. Returns the ids of the deliveries. */
async function storeMessages(
  tx: Transaction,
  schedule: ScheduledReport,
  { report, content }: CreatedFile,
): Promise<string[]> {
  const {
    report_schedule_id: reportScheduleId,
    report_format: reportFormat,
    report_to: reportTo,
  } = schedule
  const reportId = v7()
  const mediaType = REPORT_MEDIA_TYPES[reportFormat]
  await tx.insert(reportTable).values({
    report_id: reportId,
    report_schedule_id: reportScheduleId,
    content,
    media_type: mediaType,
  })
  const file = {
    report_id: reportId,
    media_type: mediaType,
    file_name: createFileName(report, reportFormat),
  }
  const request = createReportRequest(report, file, reportTo, reportScheduleId)
  return storeDeliveries(tx, [
    { kind: 'report', report_schedule_id: reportScheduleId, report_id: reportId, request },
  ])
}
