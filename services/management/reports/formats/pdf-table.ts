import { CONTENT_WIDTH, MARGIN, MUTED_COLOR, type PdfCanvas } from './pdf-page.ts'
import type { TextStyle } from './pdf-text.ts'

export interface TableRow {
  label: string
  cells: readonly string[]
  isBold?: boolean
  /** Whether the row only adds to the one above. Such a row is indented. */
  isSecondary?: boolean
}

export interface PdfTable {
  /** Heading of the column of labels. */
  labelHeading: string
  headings: readonly string[]
  rows: readonly TableRow[]
}

const LABEL_WIDTH = 135
const ROW_HEIGHT = 15
const HEADING_HEIGHT = 18
/** Distance of a text from the left and right border of its cell. */
const PADDING = 4
/** Distance of a text from the upper border of its row. */
const TOP_PADDING = 3
const SPACE_BELOW = 10
const FONT_SIZE = 8
const HEADING_BACKGROUND = '#e8edf2'
const LINE = { width: 0.25, color: '#d5dce3' }
/** Put in front of the label of a secondary row. */
const INDENT = '   '
/**
 * Maximum number of columns side by side. A table with more columns is written in several parts,
 * one below the other.
 */
const MAX_COLUMNS = 6
/** A table with fewer columns leaves space on the right. */
const MIN_COLUMNS = 3
const HEADING_STYLE: TextStyle = { size: FONT_SIZE, isBold: true }

/** Writes a table at the cursor. Its headings are repeated on each page. */
export function writeTable(canvas: PdfCanvas, table: PdfTable): void {
  for (let first = 0; first < table.headings.length; first += MAX_COLUMNS) {
    writePart(canvas, {
      ...table,
      headings: table.headings.slice(first, first + MAX_COLUMNS),
      rows: table.rows.map(row => ({ ...row, cells: row.cells.slice(first, first + MAX_COLUMNS) })),
    })
  }
}

/** Writes the part of a table whose columns fit side by side. */
function writePart(
  { doc, text, cursor }: PdfCanvas,
  { labelHeading, headings, rows }: PdfTable,
): void {
  const columnWidth = (CONTENT_WIDTH - LABEL_WIDTH) / Math.max(headings.length, MIN_COLUMNS)

  function writeLine(label: string, cells: readonly string[], style: TextStyle) {
    const y = cursor.y + TOP_PADDING
    text.write(label, MARGIN + PADDING, y, { ...style, width: LABEL_WIDTH - 2 * PADDING })
    for (const [index, cell] of cells.entries()) {
      const x = MARGIN + LABEL_WIDTH + index * columnWidth + PADDING
      text.write(cell, x, y, { ...style, width: columnWidth - 2 * PADDING, align: 'right' })
    }
  }

  function writeHeadings() {
    doc.rect(MARGIN, cursor.y, CONTENT_WIDTH, HEADING_HEIGHT - 2).fill(HEADING_BACKGROUND)
    writeLine(labelHeading, headings, HEADING_STYLE)
    cursor.y += HEADING_HEIGHT
  }

  // A heading is not left alone at the end of a page.
  cursor.reserve(HEADING_HEIGHT + 2 * ROW_HEIGHT)
  writeHeadings()
  for (const { label, cells, isBold, isSecondary } of rows) {
    if (cursor.reserve(ROW_HEIGHT)) writeHeadings()
    writeLine(isSecondary ? INDENT + label : label, cells, {
      size: FONT_SIZE,
      ...(isBold && { isBold }),
      ...(isSecondary && { color: MUTED_COLOR }),
    })
    cursor.y += ROW_HEIGHT
    const lineY = cursor.y - 1
    doc
      .moveTo(MARGIN, lineY)
      .lineTo(MARGIN + CONTENT_WIDTH, lineY)
      .lineWidth(LINE.width)
      .stroke(LINE.color)
  }
  cursor.y += SPACE_BELOW
}
