import { CONTENT_WIDTH, MARGIN, type PdfCursor } from './pdf-page.ts'
import type { PdfText } from './pdf-text.ts'

type Document = PDFKit.PDFDocument

export interface ChartSeries {
  label: string
  color: string
  values: readonly (number | undefined)[]
  /** A line instead of bars. */
  isLine: boolean
}

export interface PdfChart {
  /** One label for each position on the axis of time. */
  labels: readonly string[]
  series: readonly ChartSeries[]
}

const HEIGHT = 130
const AXIS_WIDTH = 46
const LABEL_HEIGHT = 14
const LEGEND_HEIGHT = 16
const GRID_LINES = 4
const MAX_LABELS = 8

/** Draws bars and lines over time, as vectors. */
export function drawChart(
  doc: Document,
  text: PdfText,
  cursor: PdfCursor,
  { labels, series }: PdfChart,
): void {
  cursor.reserve(HEIGHT + LABEL_HEIGHT + LEGEND_HEIGHT + 12)
  drawLegend(doc, text, cursor.y, series)
  const top = cursor.y + LEGEND_HEIGHT
  const left = MARGIN + AXIS_WIDTH
  const width = CONTENT_WIDTH - AXIS_WIDTH
  const maximum = findNiceMaximum(series)
  const toY = (value: number) => top + HEIGHT - (Math.max(value, 0) / maximum) * HEIGHT
  const slot = width / labels.length

  for (let line = 0; line <= GRID_LINES; line += 1) {
    const value = (maximum / GRID_LINES) * line
    const y = toY(value)
    doc
      .moveTo(left, y)
      .lineTo(left + width, y)
      .lineWidth(0.4)
      .stroke('#d5dce3')
    text.write(formatTick(value), MARGIN, y - 5, { size: 7, width: AXIS_WIDTH - 6, align: 'right' })
  }

  const bars = series.filter(({ isLine }) => !isLine)
  const barWidth = (slot * 0.75) / Math.max(bars.length, 1)
  bars.forEach(({ values, color }, index) => {
    values.forEach((value = 0, position) => {
      if (value <= 0) return
      const x = left + position * slot + slot * 0.125 + index * barWidth
      doc.rect(x, toY(value), Math.max(barWidth, 0.3), top + HEIGHT - toY(value)).fill(color)
    })
  })
  for (const { values, color } of series.filter(({ isLine }) => isLine)) {
    let isDrawing = false
    values.forEach((value, position) => {
      const x = left + (position + 0.5) * slot
      if (value === undefined) isDrawing = false
      else if (isDrawing) doc.lineTo(x, toY(value))
      else doc.moveTo(x, toY(value))
      isDrawing = value !== undefined
    })
    doc.lineWidth(1).stroke(color)
  }

  const step = Math.ceil(labels.length / MAX_LABELS)
  labels.forEach((label, position) => {
    if (position % step === 0)
      text.write(label, left + position * slot, top + HEIGHT + 3, {
        size: 7,
        width: Math.max(slot * step, 40),
      })
  })
  cursor.y = top + HEIGHT + LABEL_HEIGHT + 12
}

function drawLegend(doc: Document, text: PdfText, y: number, series: readonly ChartSeries[]): void {
  const width = (CONTENT_WIDTH - AXIS_WIDTH) / Math.max(series.length, 3)
  series.forEach(({ label, color, isLine }, index) => {
    const x = MARGIN + AXIS_WIDTH + index * width
    doc.rect(x, y + (isLine ? 5 : 2), 8, isLine ? 2 : 8).fill(color)
    text.write(label, x + 12, y, { size: 8, width: width - 16 })
  })
}

/** Returns a round number that is not less than any value, so that the lines of the grid have short labels. */
function findNiceMaximum(series: readonly ChartSeries[]): number {
  const values = series.flatMap(({ values }) => values.map(value => value ?? 0))
  const maximum = values.reduce((largest, value) => Math.max(largest, value), 0)
  if (maximum <= 0) return GRID_LINES
  const step = maximum / GRID_LINES
  const magnitude = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 2.5, 5, 10].find(candidate => candidate * magnitude >= step) ?? 10
  return factor * magnitude * GRID_LINES
}

const formatTick = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 2 })
