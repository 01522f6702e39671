import { CONTENT_WIDTH, MARGIN, type PdfCanvas } from './pdf-page.ts'
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

// Lengths are in points.
const LEGEND_HEIGHT = 16
const PLOT_HEIGHT = 130
const LABEL_HEIGHT = 14
const SPACE_BELOW = 12
/** Width of the axis of values, left of the plot. */
const AXIS_WIDTH = 46
const PLOT_LEFT = MARGIN + AXIS_WIDTH
const PLOT_WIDTH = CONTENT_WIDTH - AXIS_WIDTH
const MIN_LABEL_WIDTH = 40
const MIN_BAR_WIDTH = 0.3
/**
 * The part of a position that its bars fill. The rest separates them from the bars
 * of the next position.
 */
const BARS_PART = 0.75
/** Number of grid lines above the line of zero. */
const GRID_LINES = 4
const MAX_LABELS = 8
/** A legend with fewer series leaves space on the right. */
const MIN_LEGEND_COLUMNS = 3
/** The colored mark before a label of the legend: a square for bars, a dash for a line. */
const SQUARE = { top: 2, width: 8, height: 8 }
const DASH = { top: 5, width: 8, height: 2 }
/** Distance of a label of the legend from the left edge of its mark. */
const LEGEND_LABEL_OFFSET = 12
const LEGEND_COLUMN_GAP = 4
const LEGEND_FONT_SIZE = 8
const AXIS_FONT_SIZE = 7
/** Distance of a label of the axis of values from the plot. */
const AXIS_LABEL_GAP = 6
/** Distance from the top of such a label to its grid line, which is at the middle of the label. */
const AXIS_LABEL_MIDDLE = 5
/** Distance of a label of the axis of time from the plot. */
const TIME_LABEL_GAP = 3
const GRID_STROKE = { width: 0.4, color: '#d5dce3' }

/** The area in which values are drawn. All charts have the same size and the same left edge. */
interface Plot {
  top: number
  /** Width of one position on the axis of time. */
  slotWidth: number
  /** The value at the top. */
  maximum: number
  toY(value: number): number
}

/** Draws bars and lines over time at the cursor, with a legend and axes. */
export function drawChart({ doc, text, cursor }: PdfCanvas, { labels, series }: PdfChart): void {
  cursor.reserve(LEGEND_HEIGHT + PLOT_HEIGHT + LABEL_HEIGHT + SPACE_BELOW)
  drawLegend({ doc, text, cursor }, series)
  const plot = createPlot(cursor.y + LEGEND_HEIGHT, labels.length, series)
  drawGrid(doc, text, plot)
  const bars = series.filter(({ isLine }) => !isLine)
  const lines = series.filter(({ isLine }) => isLine)
  drawBars(doc, plot, bars)
  for (const line of lines) drawLine(doc, plot, line)
  writeLabels(text, plot, labels)
  cursor.y = plot.top + PLOT_HEIGHT + LABEL_HEIGHT + SPACE_BELOW
}

function createPlot(top: number, positions: number, series: readonly ChartSeries[]): Plot {
  const maximum = findNiceMaximum(series)
  const toY = (value: number) => top + PLOT_HEIGHT - (Math.max(value, 0) / maximum) * PLOT_HEIGHT
  return { top, slotWidth: PLOT_WIDTH / positions, maximum, toY }
}

function drawLegend({ doc, text, cursor }: PdfCanvas, series: readonly ChartSeries[]): void {
  const { y } = cursor
  const columnWidth = PLOT_WIDTH / Math.max(series.length, MIN_LEGEND_COLUMNS)
  for (const [index, { label, color, isLine }] of series.entries()) {
    const x = PLOT_LEFT + index * columnWidth
    const mark = isLine ? DASH : SQUARE
    doc.rect(x, y + mark.top, mark.width, mark.height).fill(color)
    text.write(label, x + LEGEND_LABEL_OFFSET, y, {
      size: LEGEND_FONT_SIZE,
      width: columnWidth - LEGEND_LABEL_OFFSET - LEGEND_COLUMN_GAP,
    })
  }
}

/** Draws the horizontal lines of the grid, each with its value. */
function drawGrid(doc: Document, text: PdfText, { maximum, toY }: Plot): void {
  for (let line = 0; line <= GRID_LINES; line += 1) {
    const value = (maximum / GRID_LINES) * line
    const y = toY(value)
    doc
      .moveTo(PLOT_LEFT, y)
      .lineTo(PLOT_LEFT + PLOT_WIDTH, y)
      .lineWidth(GRID_STROKE.width)
      .stroke(GRID_STROKE.color)
    text.write(formatTick(value), MARGIN, y - AXIS_LABEL_MIDDLE, {
      size: AXIS_FONT_SIZE,
      width: AXIS_WIDTH - AXIS_LABEL_GAP,
      align: 'right',
    })
  }
}

/** Draws the bars of all series side by side. */
function drawBars(
  doc: Document,
  { top, slotWidth, toY }: Plot,
  series: readonly ChartSeries[],
): void {
  const barWidth = (slotWidth * BARS_PART) / Math.max(series.length, 1)
  const gap = (slotWidth * (1 - BARS_PART)) / 2
  for (const [index, { values, color }] of series.entries()) {
    for (const [position, value = 0] of values.entries()) {
      if (value <= 0) continue
      const x = PLOT_LEFT + position * slotWidth + gap + index * barWidth
      const y = toY(value)
      doc.rect(x, y, Math.max(barWidth, MIN_BAR_WIDTH), top + PLOT_HEIGHT - y).fill(color)
    }
  }
}

/** Draws a line through the values of a series. It has a gap where a value is missing. */
function drawLine(doc: Document, { slotWidth, toY }: Plot, { values, color }: ChartSeries): void {
  let isAfterGap = true
  for (const [position, value] of values.entries()) {
    if (value !== undefined) {
      const x = PLOT_LEFT + (position + 0.5) * slotWidth
      if (isAfterGap) doc.moveTo(x, toY(value))
      else doc.lineTo(x, toY(value))
    }
    isAfterGap = value === undefined
  }
  doc.lineWidth(1).stroke(color)
}

/** Writes the labels of the axis of time, or some of them if there are too many. */
function writeLabels(text: PdfText, { top, slotWidth }: Plot, labels: readonly string[]): void {
  const step = Math.ceil(labels.length / MAX_LABELS)
  const width = Math.max(slotWidth * step, MIN_LABEL_WIDTH)
  for (const [position, label] of labels.entries()) {
    if (position % step !== 0) continue
    const x = PLOT_LEFT + position * slotWidth
    const y = top + PLOT_HEIGHT + TIME_LABEL_GAP
    text.write(label, x, y, { size: AXIS_FONT_SIZE, width })
  }
}

/**
 * Returns the value at the top of the chart: not less than any value, and chosen so that the labels
 * of the grid are round numbers.
 */
function findNiceMaximum(series: readonly ChartSeries[]): number {
  const values = series.flatMap(({ values }) => values.map(value => value ?? 0))
  const maximum = values.reduce((largest, value) => Math.max(largest, value), 0)
  if (maximum <= 0) return GRID_LINES

  // The distance between two lines is rounded up to a number such as 20, 25 or 50.
  const step = maximum / GRID_LINES
  const magnitude = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 2.5, 5, 10].find(candidate => candidate * magnitude >= step) ?? 10
  return factor * magnitude * GRID_LINES
}

const formatTick = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 2 })
