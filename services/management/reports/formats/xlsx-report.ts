import type { Cell, Row, Sheet } from 'write-excel-file/node'
import type { Report, ReportColumn, ReportSection, ReportValues } from '../report.ts'

/** What the sheet program shows for a day. */
const DAY_FORMAT = 'yyyy-mm-dd'
/** The maximum of the format. */
const MAX_SHEET_NAME_LENGTH = 31
const SUMMARY = 'Summary'
const TEXT_WIDTH = 28
const VALUE_WIDTH = 16

/** Writes a report as an XLSX file: a sheet with the totals, and one for each usecase with the rows of its channels. */
export async function createXlsx(report: Report): Promise<Buffer> {
  // Loaded when needed, because few processes write reports.
  const { default: writeXlsxFile } = await import('write-excel-file/node')
  const names = createSheetNames(report.sections)
  const sheets = [
    createSummary(report),
    ...report.sections.map((section, index) => createSheet(section, names[index]!, report)),
  ]
  return writeXlsxFile(sheets).toBuffer()
}

const heading = (value: string): Cell => ({ value, type: String, fontWeight: 'bold' })
const textCell = (value: string): Cell => ({ value, type: String })
const dayCell = (day: string): Cell => ({
  // The format has no time zones: midnight in UTC is the day itself.
  value: new Date(`${day}T00:00:00Z`),
  type: Date,
  format: DAY_FORMAT,
})
const valueCell = (value: number | undefined): Cell => (value === undefined ? null : { value, type: Number })

const valueCells = (columns: readonly ReportColumn[], values: ReportValues): Row =>
  columns.map((_, index) => valueCell(values[index]))

/** Headings of the statistics, and those of the period before. */
const createHeadings = (columns: readonly ReportColumn[], isCompared: boolean): Row => {
  const labels = columns.map(({ label }) => label)
  const previous = isCompared ? labels.map(label => `${label} (previous)`) : []
  return [...labels, ...previous].map(heading)
}

function createSummary({ sections, previous, ...report }: Report): Sheet<never> {
  const facts: Row[] = [
    [{ value: report.title, type: String, fontWeight: 'bold', fontSize: 16 }],
    [heading('Site'), textCell(report.siteName)],
    [heading('Time zone'), textCell(report.timeZone)],
    [heading('First day'), dayCell(report.firstDay)],
    [heading('Last day'), dayCell(report.lastDay)],
    ...(previous
      ? [
          [heading('Previous period, first day'), dayCell(previous.firstDay)],
          [heading('Previous period, last day'), dayCell(previous.lastDay)],
        ]
      : []),
    [heading('Created (UTC)'), { value: report.createdAt, type: Date, format: 'yyyy-mm-dd hh:mm' }],
  ]
  const tables = sections.flatMap(({ usecase_name, columns, channels, combined }): Row[] => [
    [],
    [{ value: usecase_name, type: String, fontWeight: 'bold', fontSize: 13 }],
    [heading('Channel'), ...createHeadings(columns, previous !== undefined)],
    ...[...channels, { channel_name: 'All channels', ...combined }].map(
      ({ channel_name, total, previousTotal }) => [
        textCell(channel_name),
        ...valueCells(columns, total),
        ...(previousTotal ? valueCells(columns, previousTotal) : []),
      ],
    ),
  ])
  const width = Math.max(...sections.map(({ columns }) => columns.length), 1) * (previous ? 2 : 1)
  return {
    sheet: SUMMARY,
    data: [...facts, ...tables],
    columns: [{ width: TEXT_WIDTH }, ...Array.from({ length: width }, () => ({ width: VALUE_WIDTH }))],
  }
}

function createSheet({ columns, channels }: ReportSection, sheet: string, report: Report): Sheet<never> {
  const isCompared = report.previous !== undefined
  const rows = channels.flatMap(channel =>
    channel.rows.map(
      ({ firstDay, lastDay, values, previous }): Row => [
        textCell(channel.channel_name),
        dayCell(firstDay),
        dayCell(lastDay),
        ...valueCells(columns, values),
        ...(isCompared ? valueCells(columns, previous ?? []) : []),
      ],
    ),
  )
  const headings = ['Channel', 'First day', 'Last day'].map(heading)
  const valueCount = columns.length * (isCompared ? 2 : 1)
  return {
    sheet,
    data: [[...headings, ...createHeadings(columns, isCompared)], ...rows],
    stickyRowsCount: 1,
    columns: [
      { width: TEXT_WIDTH },
      ...Array.from({ length: valueCount + 2 }, () => ({ width: VALUE_WIDTH })),
    ],
  }
}

/** Names of sheets are short, unique regardless of case, and without the characters that the format forbids. */
function createSheetNames(sections: readonly ReportSection[]): string[] {
  const used = new Set([SUMMARY.toLowerCase()])
  return sections.map(({ usecase_key }) => {
    const base = usecase_key.replace(/[[\]:*?/\\']/g, '-').slice(0, MAX_SHEET_NAME_LENGTH)
    let name = base
    for (let number = 2; used.has(name.toLowerCase()); number += 1) {
      const suffix = ` ${number}`
      name = base.slice(0, MAX_SHEET_NAME_LENGTH - suffix.length) + suffix
    }
    used.add(name.toLowerCase())
    return name
  })
}
