import { buffer } from 'node:stream/consumers'
import { EyrieError } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { site } from '../../db/schema/index.ts'
import { loadPrincipal } from '../../users/load-principal.ts'
import { createReport, type ReportRequest } from '../create-report.ts'
import { writeReport } from '../formats/write-report.ts'
import type { Report } from '../report.ts'
import type { ReportPeriod } from '../report-period.ts'
import type { ScheduledReport } from './scheduled-report.ts'

/** Mail servers commonly reject e-mails of more than 25 MB, and an attachment grows by a third. */
const MAX_FILE_BYTES = 15 << 20

/** A report that a schedule requests. */
export interface PlannedReport {
  schedule: ScheduledReport
  period: ReportPeriod
  /** When the report is created, in epoch ms. */
  now: number
}

export interface CreatedFile {
  report: Report
  content: Buffer
}

/**
 * Creates the file of a report with the rights of the person who saved the schedule. Throws
 * `EyrieError` like `createReport`, and if this person has no access to the site, or if the file is
 * too large for an e-mail.
 */
export async function createReportFile(
  database: Database,
  planned: PlannedReport,
): Promise<CreatedFile> {
  const report = await createReportAsOwner(database, planned)
  const content = await buffer(await writeReport(report, planned.schedule.report_format))
  if (content.length > MAX_FILE_BYTES) {
    throw new EyrieError(
      'syntax',
      `the file has ${content.length} bytes, and an e-mail at most ${MAX_FILE_BYTES}: ` +
        'choose a longer report_interval, or fewer channels',
    )
  }
  return { report, content }
}

async function createReportAsOwner(
  database: Database,
  { schedule, period, now }: PlannedReport,
): Promise<Report> {
  const { site_id, user_id } = schedule
  // The schedule has no user if that user was deleted.
  const owner = user_id && (await database.system('reports', tx => loadPrincipal(tx, user_id)))
  if (!owner || owner.role === null) throw createAccessError(schedule)

  return database.as(
    owner,
    'reports',
    async tx => {
      const sites = await tx.select().from(site).where(eq(site.site_id, site_id))
      if (sites.length === 0) throw createAccessError(schedule)
      const { report } = await createReport(tx, toRequest(schedule, period), now)
      return report
    },
    { accessMode: 'read only' },
  )
}

const createAccessError = ({ saved_by: savedBy }: ScheduledReport) =>
  new EyrieError(
    'conflict',
    `${savedBy} saved this schedule and has no access to the site any more: ` +
      'save it with /report/schedule/update, or delete it',
  )

export const toRequest = (schedule: ScheduledReport, period: ReportPeriod): ReportRequest => ({
  title: schedule.report_name,
  site_id: schedule.site_id,
  channelIds: schedule.channel_ids,
  usecaseKeys: schedule.usecase_keys,
  statisticKeys: schedule.usecase_meta_key,
  interval: schedule.report_interval,
  isCompared: schedule.report_comparison,
  findPeriod: () => period,
})
