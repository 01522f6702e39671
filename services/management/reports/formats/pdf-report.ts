import { buffer } from 'node:stream/consumers'
import type { ReportInterval } from '@eyrie/contract/management/report'
import type { Report, ReportColumn, ReportSection, ReportTable, ReportValues } from '../report.ts'
import { formatLocalTime } from '../report-period.ts'
import { type ChartSeries, drawChart } from './pdf-chart.ts'
import type { PdfFonts } from './pdf-fonts.ts'
import { CONTENT_WIDTH, createCursor, MARGIN, type PdfCursor, writeFooters } from './pdf-page.ts'
import { type TableRow, writeTable } from './pdf-table.ts'
import { createPdfText, type PdfText, REPLACEMENT } from './pdf-text.ts'

type Document = PDFKit.PDFDocument

const COLORS = ['#2f6db5', '#e08a2c', '#4c9a5b']
const PREVIOUS_COLOR = '#8a94a0'
const ROW_HEADINGS: Record<ReportInterval, string> = { day: 'Day', week: 'Week', month: 'Month' }
/** Wider charts have lines, because bars would be thinner than a pixel. */
const MAX_BARS = 62

/** Writes a report as a PDF file on A4 pages. The same report has the same bytes. */
export async function createPdf(report: Report, fonts: PdfFonts): Promise<Buffer> {
  // Loaded when needed, because it takes much memory.
  const { default: PDFDocument } = await import('pdfkit')
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    bufferPages: true,
    // None yet: PDFKit parses a font again at each use if it was loaded under another name before.
    font: '',
    info: { Title: report.title, Producer: 'Eyrie', Creator: 'Eyrie', CreationDate: report.createdAt },
  })
  const content = buffer(doc)
  const text = createPdfText(doc, fonts)
  const cursor = createCursor(doc)
  writeHeader(text, cursor, report)
  for (const section of report.sections) writeSection(doc, text, cursor, section, report.interval)
  if (report.sections.length === 0)
    text.write('No channel has these statistics.', MARGIN, cursor.y, { size: 10 })
  writeFooters(doc, text, report.title)
  if (text.hasReplaced()) writeReplacementNote(doc, text)
  doc.end()
  return content
}

function writeHeader(text: PdfText, cursor: PdfCursor, report: Report): void {
  text.write(report.title, MARGIN, cursor.y, { size: 18, isBold: true, width: CONTENT_WIDTH })
  cursor.y += 28
  const { firstDay, lastDay, previous, siteName, timeZone, createdAt } = report
  const facts = [
    ...(siteName ? [['Site', siteName]] : []),
    ['Period', `${firstDay} to ${lastDay}`],
    ...(previous ? [['Compared with', `${previous.firstDay} to ${previous.lastDay}`]] : []),
    ['Time zone', timeZone],
    ['Created', formatLocalTime(createdAt.getTime(), timeZone)],
  ]
  for (const [name, value] of facts) {
    text.write(name!, MARGIN, cursor.y, { color: '#66727f' })
    text.write(value!, MARGIN + 90, cursor.y, { width: CONTENT_WIDTH - 90 })
    cursor.y += 14
  }
  cursor.y += 12
}

function writeSection(
  doc: Document,
  text: PdfText,
  cursor: PdfCursor,
  { usecase_name, columns, channels, combined }: ReportSection,
  interval: ReportInterval,
): void {
  // The name stays with the chart.
  cursor.reserve(220)
  text.write(usecase_name, MARGIN, cursor.y, { size: 13, isBold: true, width: CONTENT_WIDTH })
  cursor.y += 24
  if (combined.rows.length > 1)
    drawChart(doc, text, cursor, {
      labels: combined.rows.map(({ firstDay }) => firstDay),
      series: createSeries(columns, combined),
    })

  const headings = columns.map(({ label }) => label)
  const all = channels.length > 1 ? [{ channel_name: 'All channels', ...combined, isBold: true }] : []
  const totals = [...channels, ...all].flatMap(channel => listTotalRows(channel.channel_name, channel))
  writeTable(doc, text, cursor, { labelHeading: 'Channel', headings, rows: totals })

  const tables = channels.length > 1 ? [{ channel_name: 'All channels', ...combined }, ...channels] : channels
  for (const { channel_name, rows } of tables) {
    cursor.reserve(70)
    text.write(channel_name, MARGIN, cursor.y, { size: 10, isBold: true, width: CONTENT_WIDTH })
    cursor.y += 18
    writeTable(doc, text, cursor, {
      labelHeading: ROW_HEADINGS[interval],
      headings,
      rows: rows.map(({ firstDay, lastDay, values }) => ({
        label: firstDay === lastDay ? firstDay : `${firstDay} – ${lastDay}`,
        cells: columns.map((_, index) => formatValue(values[index])),
      })),
    })
  }
}

/** Returns the total of a channel, and with a comparison those of the period before and the change. */
function listTotalRows(
  label: string,
  { total, previousTotal, isBold }: ReportTable & { isBold?: boolean },
): TableRow[] {
  const current = { label, cells: total.map(formatValue), ...(isBold && { isBold }) }
  if (!previousTotal) return [current]
  return [
    current,
    { label: 'previous period', cells: previousTotal.map(formatValue), isSecondary: true },
    {
      label: 'change',
      cells: total.map((value, index) => formatChange(value, previousTotal[index])),
      isSecondary: true,
    },
  ]
}

/** Shows the first statistics of one kind, because sums and levels have different scales. */
function createSeries(columns: readonly ReportColumn[], { rows }: ReportTable): ChartSeries[] {
  const isSum = columns[0]!.isSum
  const shown = columns
    .map((column, index) => ({ ...column, index }))
    .filter(column => column.isSum === isSum && (column.key !== 'alert' || columns.length === 1))
    .slice(0, COLORS.length)
  const toValues = (select: (row: (typeof rows)[number]) => ReportValues | undefined, index: number) =>
    rows.map(row => select(row)?.[index])
  const series = shown.map(({ label, index }, position) => ({
    label,
    color: COLORS[position]!,
    values: toValues(({ values }) => values, index),
    isLine: !isSum || rows.length > MAX_BARS,
  }))
  const [first] = shown
  const hasPrevious = rows.some(({ previous }) => previous !== undefined)
  if (!first || !hasPrevious) return series
  return [
    ...series,
    {
      label: `${first.label} (previous)`,
      color: PREVIOUS_COLOR,
      values: toValues(({ previous }) => previous, first.index),
      isLine: true,
    },
  ]
}

const formatValue = (value: number | undefined) =>
  value === undefined ? '–' : value.toLocaleString('en', { maximumFractionDigits: 2 })

function formatChange(value: number | undefined, previous: number | undefined): string {
  if (value === undefined || !previous) return '–'
  const percent = Math.round(((value - previous) / previous) * 100)
  return `${percent > 0 ? '+' : ''}${percent} %`
}

function writeReplacementNote(doc: Document, text: PdfText): void {
  doc.switchToPage(0)
  text.write(
    `${REPLACEMENT} stands for characters that the fonts of this machine lack: CSV and XLSX files contain them.`,
    MARGIN,
    MARGIN - 16,
    { size: 7, color: '#66727f' },
  )
}
