import { Readable } from 'node:stream'
import {
  parseReportPeriodLength,
  REPORT_MEDIA_TYPES,
  type ReportFormat,
  reportRoutes,
} from '@eyrie/contract/management/report'
import type { Context } from 'hono'
import type { Transaction } from '../../../db/database.ts'
import { parseReportPeriod } from '../../../events/statistics/period.ts'
import { createReport } from '../../../reports/create-report.ts'
import { writeReport } from '../../../reports/formats/write-report.ts'
import { createFileName } from '../../../reports/report.ts'
import { addPreviousPeriod, findLastPeriod } from '../../../reports/report-period.ts'
import { defineMultiStepOperation, type Input } from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'

const routes = reportRoutes

/** API operations that return reports as files. `now` returns epoch ms. */
export const reportOperations = (now: () => number) => [
  defineMultiStepOperation(routes.export, async ({ input, caller, context }, database) => {
    const report = await database.as(caller, routes.export.path, tx => create(tx, input, now()), {
      accessMode: 'read only',
    })
    const format = input.report_format
    // The transaction has ended: a slow client does not keep it open.
    const content = await writeReport(report, format, { bom: input.report_bom })
    return sendFile(
      context,
      createFileName(report, format),
      format,
      Readable.toWeb(content) as ReadableStream,
    )
  }),
]

async function create(tx: Transaction, input: Input<typeof routes.export>, now: number) {
  await assertReferencesExist(tx, routes.export, input)
  const { report_period, start_date, end_date } = input
  const { report } = await createReport(
    tx,
    {
      title: undefined,
      site_id: input.site_id,
      channelIds: input.channel_ids ?? [],
      usecaseKeys: input.usecase_keys ?? [],
      statisticKeys: input.usecase_meta_key ?? [],
      interval: input.report_interval,
      isCompared: input.report_comparison,
      // The request schema requires either report_period or both dates.
      findPeriod: timeZone =>
        report_period === undefined
          ? addPreviousPeriod(parseReportPeriod(start_date!, end_date!, now, timeZone), timeZone)
          : findLastPeriod(parseReportPeriodLength(report_period)!, now, timeZone),
    },
    now,
  )
  return report
}

/** Sends a file that browsers save under its name. */
export function sendFile(
  context: Context,
  fileName: string,
  format: ReportFormat,
  content: ReadableStream | Uint8Array<ArrayBuffer>,
): Response {
  context.header('Content-Type', REPORT_MEDIA_TYPES[format])
  // The name has no characters that need quoting.
  context.header('Content-Disposition', `attachment; filename="${fileName}"`)
  return context.body(content)
}
