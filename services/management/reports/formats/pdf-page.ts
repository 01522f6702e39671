import type { PdfText } from './pdf-text.ts'

type Document = PDFKit.PDFDocument

/** A4 in points. */
export const PAGE_WIDTH = 595.28
export const PAGE_HEIGHT = 841.89
export const MARGIN = 42
export const CONTENT_WIDTH = PAGE_WIDTH - 2 * MARGIN
/** Color of texts of minor importance. */
export const MUTED_COLOR = '#66727f'
/** Height of the footer with the page number. */
const FOOTER_HEIGHT = 24
const FOOTER_STYLE = { size: 8, color: MUTED_COLOR }
const PAGE_NUMBER_WIDTH = 90
/** Space between the title and the page number. */
const FOOTER_GAP = 10

/** The place on the current page at which the next part of a document is written. */
export interface PdfCursor {
  y: number
  /**
   * Starts a page unless this height is left on the current one. Returns whether a page was
   * started.
   */
  reserve(height: number): boolean
}

/** A document, and the means to write to it. */
export interface PdfCanvas {
  doc: Document
  text: PdfText
  cursor: PdfCursor
}

export function createCursor(doc: Document): PdfCursor {
  const cursor: PdfCursor = {
    y: MARGIN,
    reserve(height) {
      if (cursor.y + height <= PAGE_HEIGHT - MARGIN - FOOTER_HEIGHT) return false
      doc.addPage()
      cursor.y = MARGIN
      return true
    },
  }
  return cursor
}

/** Writes the footer of every page. To be called when the number of pages is known. */
export function writeFooters({ doc, text }: PdfCanvas, title: string): void {
  const { start, count } = doc.bufferedPageRange()
  const y = PAGE_HEIGHT - MARGIN
  for (let page = start; page < start + count; page += 1) {
    doc.switchToPage(page)
    text.write(title, MARGIN, y, {
      ...FOOTER_STYLE,
      width: CONTENT_WIDTH - PAGE_NUMBER_WIDTH - FOOTER_GAP,
    })
    const pageNumber = `Page ${page - start + 1} of ${count}`
    text.write(pageNumber, MARGIN + CONTENT_WIDTH - PAGE_NUMBER_WIDTH, y, {
      ...FOOTER_STYLE,
      width: PAGE_NUMBER_WIDTH,
      align: 'right',
    })
  }
}
