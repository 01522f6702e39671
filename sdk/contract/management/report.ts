import { z } from 'zod'
import { flagParameter, listParameter } from '../parameters.ts'
import { route } from './management-route.ts'
import { name, reference } from './record-fields.ts'
import { statisticKeysParameter } from './statistic.ts'
import { dateOrTimeExpression } from './time-expression.ts'

/**
 * Reports in the management API. A report is a file with the statistics of channels by day, week or
 * month in the time zone of the site.
 */

export const reportFormat = z.enum(['csv', 'xlsx', 'pdf'])
export type ReportFormat = z.infer<typeof reportFormat>

/** The media type of each format. */
export const REPORT_MEDIA_TYPES: Readonly<Record<ReportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
}

/** The length of time that each row of a report covers. */
export const reportInterval = z.enum(['day', 'week', 'month'])
export type ReportInterval = z.infer<typeof reportInterval>

/** Matches a period such as `7d`, `1w` or `3mo`. */
const REPORT_PERIOD = /^([1-9]\d{0,2})(d|w|mo)$/
const INTERVALS_BY_UNIT: Record<string, ReportInterval> = { d: 'day', w: 'week', mo: 'month' }

/** A length of time in the calendar: a number of days, weeks or months. */
export interface CalendarPeriod {
  count: number
  unit: ReportInterval
}

/** Parses a period such as `7d`, `1w` or `3mo`. Returns undefined if it is invalid. */
export function parseReportPeriodLength(text: string): CalendarPeriod | undefined {
  const match = REPORT_PERIOD.exec(text)
  if (!match) return undefined
  const [, count, unitSymbol = ''] = match
  const unit = INTERVALS_BY_UNIT[unitSymbol]
  return unit && { count: Number(count), unit }
}

/** The last complete days, weeks (from Monday) or months. */
export const reportPeriod = z
  .string()
  .regex(
    REPORT_PERIOD,
    'must be the number of the last days, weeks or months, such as 7d, 1w or 3mo',
  )
  .meta({
    description: 'The last complete days (`d`), weeks from Monday (`w`) or months (`mo`)',
    examples: ['7d', '1w', '1mo'],
  })

interface PeriodFields {
  report_period?: string | undefined
  start_date?: string | undefined
  end_date?: string | undefined
}

/** Adds issues if the period is missing, incomplete or specified twice. */
function checkPeriod(
  { report_period, start_date, end_date }: PeriodFields,
  issues: z.core.$RefinementCtx,
): void {
  const reject = (field: keyof PeriodFields, message: string) =>
    issues.addIssue({ code: 'custom', path: [field], message })
  if (report_period === undefined) {
    if (start_date === undefined) reject('start_date', 'is required without report_period')
    if (end_date === undefined) reject('end_date', 'is required without report_period')
  } else if (start_date !== undefined || end_date !== undefined) {
    reject('report_period', 'must not be combined with start_date and end_date')
  }
}

const exportQuery = z
  .strictObject({
    site_id: reference('site').optional(),
    channel_ids: listParameter(reference('channel'))
      .optional()
      .meta({ description: 'Default: all channels of the site. Required without site_id' }),
    usecase_keys: listParameter(name).optional().meta({ description: 'Default: all usecases' }),
    usecase_meta_key: statisticKeysParameter.optional().meta({
      description: 'Keys of the statistics. Default: all statistics of each usecase, and `alert`',
    }),
    report_format: reportFormat,
    report_interval: reportInterval
      .default('day')
      .meta({ description: 'Length of the time that each row covers' }),
    report_period: reportPeriod.optional(),
    start_date: dateOrTimeExpression.optional(),
    end_date: dateOrTimeExpression.optional(),
    report_comparison: flagParameter.meta({
      description:
        'Whether the report also has the values of the previous period of the same length',
    }),
    report_bom: flagParameter.meta({
      description:
        'Whether a CSV file begins with a byte order mark, which older versions of Excel need',
    }),
  })
  .superRefine((query, issues) => {
    checkPeriod(query, issues)
    if (query.site_id === undefined && query.channel_ids === undefined) {
      issues.addIssue({
        code: 'custom',
        path: ['site_id'],
        message: 'is required without channel_ids',
      })
    }
  })

export const reportRoutes = {
  export: route({
    method: 'get',
    path: '/report/export',
    summary: 'Get a report as a CSV, XLSX or PDF file',
    description:
      'The period is either `report_period`, or from `start_date` to `end_date`. Days are those of the time zone of the site. Channels of which events may be missing are marked: a CSV file has a column `incomplete` if there are any.',
    access: 'view',
    query: exportQuery,
    status: 200,
    responseType: 'application/octet-stream',
  }),
}
