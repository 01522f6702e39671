import { Readable } from 'node:stream'
import {
  parseReportPeriodLength,
  REPORT_MEDIA_TYPES,
  reportRoutes,
} from '@eyrie/contract/management/report'
import type { Transaction } from '../../../db/database.ts'
import { parseReportPeriod } from '../../../events/statistics/period.ts'
import { createReport } from '../../../reports/create-report.ts'
import { writeReport } from '../../../reports/formats/write-report.ts'
import { createFileName } from '../../../reports/report.ts'
import { addPreviousPeriod, findLastPeriod } from '../../../reports/report-period.ts'
import { defineMultiStepOperation, type Input } from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'

/** The API operation that returns a report as a file. `nowMs` returns epoch ms. */
export const reportOperations = (nowMs: () => number) => [
  defineMultiStepOperation(reportRoutes.export, async ({ input, caller, context }, database) => {
    const { path } = reportRoutes.export
    const report = await database.as(
      caller,
      path,
      tx => createRequestedReport(tx, input, nowMs()),
      {
        accessMode: 'read only',
      },
    )
    const format = input.report_format
    // The transaction has ended, so that a slow client does not keep it open.
    const content = await writeReport(report, format, { bom: input.report_bom })

    context.header('Content-Type', REPORT_MEDIA_TYPES[format])
    // The name has no characters that need quoting.
    context.header(
      'Content-Disposition',
      `attachment; filename="${createFileName(report, format)}"`,
    )
    return context.body(Readable.toWeb(content) as ReadableStream)
  }),
]

type ReportRequest = Input<typeof reportRoutes.export>

async function createRequestedReport(tx: Transaction, input: ReportRequest, nowMs: number) {
  await assertReferencesExist(tx, reportRoutes.export, input)
  const settings = {
    title: undefined,
    site_id: input.site_id,
    channelIds: input.channel_ids ?? [],
    usecaseKeys: input.usecase_keys ?? [],
    statisticKeys: input.usecase_meta_key ?? [],
    interval: input.report_interval,
    isCompared: input.report_comparison,
    findPeriod: (timeZone: string) => findRequestedPeriod(input, nowMs, timeZone),
  }
  const { report } = await createReport(tx, settings, nowMs)
  return report
}

function findRequestedPeriod(
  { report_period: reportPeriod, start_date: startDate, end_date: endDate }: ReportRequest,
  nowMs: number,
  timeZone: string,
) {
  // The request schema accepts only valid periods, and requires either
  // `report_period` or both dates.
  if (reportPeriod !== undefined) {
    return findLastPeriod(parseReportPeriodLength(reportPeriod)!, nowMs, timeZone)
  }
  return addPreviousPeriod(parseReportPeriod(startDate!, endDate!, nowMs, timeZone), timeZone)
}
