import type { Cell, Row, Sheet } from 'write-excel-file/node'
import {
  describeIncompleteChannels,
  type Report,
  type ReportColumn,
  type ReportSection,
  type ReportValues,
} from '../report.ts'

const DAY_FORMAT = 'yyyy-mm-dd'
const TIME_FORMAT = 'yyyy-mm-dd hh:mm'
/** Maximum length of the name of a sheet in the format. */
const MAX_SHEET_NAME_LENGTH = 31
/** Name of the sheet with the totals. */
const SUMMARY_SHEET = 'Summary'
const TITLE_FONT_SIZE = 16
const SECTION_FONT_SIZE = 13
// Widths of columns, in characters.
const TEXT_WIDTH = 28
const VALUE_WIDTH = 16

/**
 * Writes a report as an XLSX file: a sheet with the totals, and one for each usecase with the
 * rows of its channels.
 */
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

const heading = (value: string, fontSize?: number): Cell => ({
  value,
  type: String,
  fontWeight: 'bold',
  ...(fontSize !== undefined && { fontSize }),
})
const textCell = (value: string): Cell => ({ value, type: String })
const dayCell = (day: string): Cell => ({
  // The format has no time zones: midnight in UTC is the day itself.
  value: new Date(`${day}T00:00:00Z`),
  type: Date,
  format: DAY_FORMAT,
})
const valueCell = (value: number | undefined): Cell =>
  value === undefined ? null : { value, type: Number }

const valueCells = (columns: readonly ReportColumn[], values: ReportValues): Row =>
  columns.map((_, index) => valueCell(values[index]))

/** Returns the headings of the statistics, followed by those of their previous values. */
function createHeadings(columns: readonly ReportColumn[], isCompared: boolean): Row {
  const headings = columns.map(({ label }) => heading(label))
  const previous = columns.map(({ label }) => heading(`${label} (previous)`))
  return isCompared ? [...headings, ...previous] : headings
}

/**
 * Returns the formats of the columns of a sheet, in which columns with values follow
 * a column with names.
 */
const createColumns = (valueCount: number) => [
  { width: TEXT_WIDTH },
  ...Array.from({ length: valueCount }, () => ({ width: VALUE_WIDTH })),
]

/** Creates the sheet with the facts about the report, and the totals of each usecase. */
function createSummary(report: Report): Sheet<never> {
  const { sections, previous } = report
  const isCompared = previous !== undefined
  const facts: Row[] = [
    [heading(report.title, TITLE_FONT_SIZE)],
    [heading('Site'), textCell(report.siteName)],
    [heading('Time zone'), textCell(report.timeZone)],
    [heading('First day'), dayCell(report.firstDay)],
    [heading('Last day'), dayCell(report.lastDay)],
  ]
  if (previous) {
    facts.push(
      [heading('Previous period, first day'), dayCell(previous.firstDay)],
      [heading('Previous period, last day'), dayCell(previous.lastDay)],
    )
  }
  facts.push([
    heading('Created (UTC)'),
    { value: report.createdAt, type: Date, format: TIME_FORMAT },
  ])

  const incompleteNote = describeIncompleteChannels(report)
  if (incompleteNote) facts.push([heading('INCOMPLETE'), textCell(incompleteNote)])

  const totals = sections.flatMap(section => createTotals(section, isCompared))
  const maxColumns = Math.max(...sections.map(({ columns }) => columns.length), 1)
  return {
    sheet: SUMMARY_SHEET,
    data: [...facts, ...totals],
    columns: createColumns(isCompared ? maxColumns * 2 : maxColumns),
  }
}

/**
 * Returns the rows with the totals of each channel of a usecase, below an empty row and headings.
 */
function createTotals(
  { usecase_name, columns, channels, combined }: ReportSection,
  isCompared: boolean,
): Row[] {
  const tables = [...channels, { channel_name: 'All channels', ...combined }]
  const rows = tables.map(({ channel_name, total, previousTotal }) => [
    textCell(channel_name),
    ...valueCells(columns, total),
    ...(previousTotal ? valueCells(columns, previousTotal) : []),
  ])
  return [
    [],
    [heading(usecase_name, SECTION_FONT_SIZE)],
    [heading('Channel'), ...createHeadings(columns, isCompared)],
    ...rows,
  ]
}

/** Creates the sheet of a usecase, with a row for each channel and interval. */
function createSheet(
  { columns, channels }: ReportSection,
  sheet: string,
  report: Report,
): Sheet<never> {
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
  const headings = [heading('Channel'), heading('First day'), heading('Last day')]
  const statisticCount = columns.length * (isCompared ? 2 : 1)
  return {
    sheet,
    data: [[...headings, ...createHeadings(columns, isCompared)], ...rows],
    stickyRowsCount: 1,
    columns: createColumns(statisticCount + 2),
  }
}

/**
 * Returns a name for the sheet of each section. The format requires that names are short, and
 * unique regardless of case.
 */
function createSheetNames(sections: readonly ReportSection[]): string[] {
  const used = new Set([SUMMARY_SHEET.toLowerCase()])
  return sections.map(({ usecase_key }) => {
    // The format forbids these characters.
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
