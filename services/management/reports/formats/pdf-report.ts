import { buffer } from 'node:stream/consumers'
import type { ReportInterval } from '@eyrie/contract/management/report'
import { NOTIFICATION_KEY } from '../../events/statistics/samples.ts'
import {
  describeIncompleteChannels,
  type Report,
  type ReportColumn,
  type ReportRow,
  type ReportSection,
  type ReportTable,
} from '../report.ts'
import { formatLocalTime } from '../report-period.ts'
import { type ChartSeries, drawChart } from './pdf-chart.ts'
import type { PdfFonts } from './pdf-fonts.ts'
import {
  CONTENT_WIDTH,
  createCursor,
  MARGIN,
  MUTED_COLOR,
  type PdfCanvas,
  writeFooters,
} from './pdf-page.ts'
import { type TableRow, writeTable } from './pdf-table.ts'
import { createPdfText, REPLACEMENT } from './pdf-text.ts'

// Lengths and sizes of fonts are in points. The height of a line includes the space below it.
const TITLE = { size: 18, height: 28 }
/** The facts below the title, such as the period. */
const FACT = { size: 9, height: 14, nameWidth: 90 }
const SPACE_BELOW_FACTS = 12
const SECTION_HEADING = { size: 13, height: 24 }
const TABLE_HEADING = { size: 10, height: 18 }
const EMPTY_REPORT_SIZE = 10
/** The note about replaced characters is above the title. */
const NOTE = { size: 7, y: MARGIN - 16 }
/** Height of the heading of a section with the chart below it. */
const SECTION_START_HEIGHT = 220
/** Height of the heading of a table with a few rows below it. */
const TABLE_START_HEIGHT = 70
/** Colors of the series of a chart. Further statistics are not drawn. */
const SERIES_COLORS = ['#2f6db5', '#e08a2c', '#4c9a5b']
const PREVIOUS_COLOR = '#8a94a0'
const ALL_CHANNELS = 'All channels'
const ROW_HEADINGS: Record<ReportInterval, string> = { day: 'Day', week: 'Week', month: 'Month' }
/** Wider charts have lines, because bars would be thinner than a pixel. */
const MAX_BARS = 62

/** Returns a report as a PDF file with A4 pages. Equal reports result in equal files. */
export async function createPdf(report: Report, fonts: PdfFonts): Promise<Buffer> {
  // Loaded when needed, because it takes much memory.
  const { default: PDFDocument } = await import('pdfkit')
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    bufferPages: true,
    // Without a default font, fonts are loaded under their registered names only: under two names,
    // PDFKit would parse them anew.
    font: '',
    info: {
      Title: report.title,
      Producer: 'Eyrie',
      Creator: 'Eyrie',
      CreationDate: report.createdAt,
    },
  })
  const content = buffer(doc)
  const text = createPdfText(doc, fonts)
  const cursor = createCursor(doc)
  const canvas: PdfCanvas = { doc, text, cursor }
  writeHeader(canvas, report)
  for (const section of report.sections) writeSection(canvas, section, report.interval)
  if (report.sections.length === 0) {
    text.write('No channel has the requested statistics.', MARGIN, cursor.y, {
      size: EMPTY_REPORT_SIZE,
    })
  }
  writeFooters(canvas, report.title)
  if (text.hasReplaced()) writeReplacementNote(canvas)
  doc.end()
  return content
}

function writeHeader(canvas: PdfCanvas, report: Report): void {
  const { text, cursor } = canvas
  writeHeading(canvas, report.title, TITLE)

  const { firstDay, lastDay, previous, siteName, timeZone, createdAt } = report
  const writeFact = (name: string, value: string) => {
    text.write(name, MARGIN, cursor.y, { size: FACT.size, color: MUTED_COLOR })
    text.write(value, MARGIN + FACT.nameWidth, cursor.y, {
      size: FACT.size,
      width: CONTENT_WIDTH - FACT.nameWidth,
    })
    cursor.y += FACT.height
  }
  if (siteName) writeFact('Site', siteName)
  writeFact('Period', `${firstDay} to ${lastDay}`)
  if (previous) writeFact('Compared with', `${previous.firstDay} to ${previous.lastDay}`)
  writeFact('Time zone', timeZone)
  writeFact('Created', formatLocalTime(createdAt.getTime(), timeZone))
  const incompleteNote = describeIncompleteChannels(report)
  if (incompleteNote) writeFact('INCOMPLETE', incompleteNote)
  cursor.y += SPACE_BELOW_FACTS
}

/** Writes a heading at the cursor. */
function writeHeading(
  { text, cursor }: PdfCanvas,
  heading: string,
  { size, height }: { size: number; height: number },
): void {
  text.write(heading, MARGIN, cursor.y, { size, isBold: true, width: CONTENT_WIDTH })
  cursor.y += height
}

/**
 * Writes the channels of a usecase: a chart, a table of the totals, and the rows of each channel.
 */
function writeSection(
  canvas: PdfCanvas,
  { usecase_name: usecaseName, columns, channels, combined }: ReportSection,
  interval: ReportInterval,
): void {
  // The heading is on the same page as the chart.
  canvas.cursor.reserve(SECTION_START_HEIGHT)
  writeHeading(canvas, usecaseName, SECTION_HEADING)
  if (combined.rows.length > 1) {
    drawChart(canvas, {
      labels: combined.rows.map(({ firstDay }) => firstDay),
      series: createSeries(columns, combined),
    })
  }

  const hasSeveralChannels = channels.length > 1
  const headings = columns.map(({ label }) => label)
  const totals = channels.flatMap(channel => listTotalRows(channel.channel_name, channel))
  if (hasSeveralChannels) totals.push(...listTotalRows(ALL_CHANNELS, combined, { isBold: true }))
  writeTable(canvas, { labelHeading: 'Channel', headings, rows: totals })

  const writeRows = (title: string, { rows }: ReportTable) => {
    canvas.cursor.reserve(TABLE_START_HEIGHT)
    writeHeading(canvas, title, TABLE_HEADING)
    writeTable(canvas, {
      labelHeading: ROW_HEADINGS[interval],
      headings,
      rows: rows.map(toTableRow),
    })
  }
  if (hasSeveralChannels) writeRows(ALL_CHANNELS, combined)
  for (const channel of channels) writeRows(channel.channel_name, channel)
}

const toTableRow = ({ firstDay, lastDay, values }: ReportRow): TableRow => ({
  label: firstDay === lastDay ? firstDay : `${firstDay} – ${lastDay}`,
  cells: values.map(formatValue),
})

/**
 * Returns a row with the totals of a table. With a comparison, rows with the previous totals
 * and the changes follow.
 */
function listTotalRows(
  label: string,
  { total, previousTotal }: ReportTable,
  style: Pick<TableRow, 'isBold'> = {},
): TableRow[] {
  const current = { label, cells: total.map(formatValue), ...style }
  if (!previousTotal) return [current]
  const changes = total.map((value, index) => formatChange(value, previousTotal[index]))
  return [
    current,
    { label: 'previous period', cells: previousTotal.map(formatValue), isSecondary: true },
    { label: 'change', cells: changes, isSecondary: true },
  ]
}

/** Returns the series of the chart: some statistics, and the previous values of the first one. */
function createSeries(columns: readonly ReportColumn[], { rows }: ReportTable): ChartSeries[] {
  const shownIndexes = selectSeriesColumns(columns)
  const hasBars = columns[0]?.isSum && rows.length <= MAX_BARS
  const series = shownIndexes.map((columnIndex, position) => ({
    label: columns[columnIndex]!.label,
    color: SERIES_COLORS[position]!,
    values: rows.map(({ values }) => values[columnIndex]),
    isLine: !hasBars,
  }))

  const [firstIndex] = shownIndexes
  const hasPrevious = rows.some(({ previous }) => previous !== undefined)
  if (firstIndex !== undefined && hasPrevious) {
    series.push({
      label: `${columns[firstIndex]!.label} (previous)`,
      color: PREVIOUS_COLOR,
      values: rows.map(({ previous }) => previous?.[firstIndex]),
      isLine: true,
    })
  }
  return series
}

/**
 * Returns the indexes of the columns that a chart shows: all of them sums, or none, because sums
 * and levels have different scales. The number of alerts is shown only if it is the only statistic.
 */
function selectSeriesColumns(columns: readonly ReportColumn[]): number[] {
  const isSum = columns[0]?.isSum
  const indexes = [...columns.keys()].filter(index => {
    const column = columns[index]!
    const isMinor = column.key === NOTIFICATION_KEY && columns.length > 1
    return column.isSum === isSum && !isMinor
  })
  return indexes.slice(0, SERIES_COLORS.length)
}

const formatValue = (value: number | undefined) =>
  value === undefined ? '–' : value.toLocaleString('en', { maximumFractionDigits: 2 })

/** Formats a change in percent. A change from zero cannot be expressed in percent. */
function formatChange(value: number | undefined, previous: number | undefined): string {
  if (value === undefined || !previous) return '–'
  const percent = Math.round(((value - previous) / previous) * 100)
  const sign = percent > 0 ? '+' : ''
  return `${sign}${percent} %`
}

function writeReplacementNote({ doc, text }: PdfCanvas): void {
  doc.switchToPage(0)
  text.write(
    `${REPLACEMENT} stands for characters that the fonts of this machine lack. The CSV and XLSX files contain them.`,
    MARGIN,
    NOTE.y,
    { size: NOTE.size, color: MUTED_COLOR },
  )
}
