import type { PdfFonts } from './pdf-fonts.ts'

type Document = PDFKit.PDFDocument

export interface TextStyle {
  size?: number
  isBold?: boolean
  color?: string
  /** Longer text is cut at the end. */
  width?: number
  align?: 'left' | 'right'
}

/** Writes text of any script to a PDF file, each character in the first font that has it. */
export interface PdfText {
  /** Writes one line. Its top left corner is at `x` and `y`, in points. */
  write(text: string, x: number, y: number, style?: TextStyle): void
  /** Whether a character was replaced because no font has it. */
  hasReplaced(): boolean
}

/** Stands for a character that no font has. */
export const REPLACEMENT = '□'
const ELLIPSIS = '…'

/** A part of a text in one font. */
interface Run {
  font: string
  text: string
}

/** The current font of a document, a font of fontkit, which the types of PDFKit lack. */
interface DocumentWithFont {
  _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean } }
}

const DEFAULT_SIZE = 9
const DEFAULT_COLOR = '#1f2933'

export function createPdfText(doc: Document, { regular, bold, fallback }: PdfFonts): PdfText {
  doc.registerFont('regular', regular)
  doc.registerFont('bold', bold)
  if (fallback) doc.registerFont('fallback', fallback)
  const hasGlyph = createGlyphLookup(doc)
  let hasReplaced = false

  /** Divides a text into runs of one font each. A character that no font has is replaced. */
  function splitRuns(text: string, primary: string): Run[] {
    const fonts = fallback ? [primary, 'fallback'] : [primary]
    const runs: Run[] = []
    // Control characters have no width, and would end the line.
    for (const character of text.replace(/\p{Cc}+/gu, ' ')) {
      const font = fonts.find(name => hasGlyph(name, character))
      if (!font) hasReplaced = true
      const run = font ? { font, text: character } : { font: primary, text: REPLACEMENT }
      const last = runs.at(-1)
      if (last?.font === run.font) last.text += run.text
      else runs.push(run)
    }
    return runs
  }

  const measure = (runs: readonly Run[], size: number) =>
    runs.reduce((sum, run) => sum + doc.font(run.font, size).widthOfString(run.text), 0)

  /** Returns the runs of a text. A text that is too wide is cut, and ends with an ellipsis. */
  function fitRuns(text: string, font: string, { size, width }: { size: number; width: number }) {
    const fits = (runs: Run[]) => measure(runs, size) <= width
    const runs = splitRuns(text, font)
    if (fits(runs)) return runs

    const characters = Array.from(text)
    const cut = (length: number) => splitRuns(characters.slice(0, length).join('') + ELLIPSIS, font)
    return cut(findLargest(characters.length, length => fits(cut(length))))
  }

  return {
    write(text, x, y, style = {}) {
      const { size = DEFAULT_SIZE, color = DEFAULT_COLOR, width, align = 'left' } = style
      const font = style.isBold ? 'bold' : 'regular'
      const runs =
        width === undefined ? splitRuns(text, font) : fitRuns(text, font, { size, width })
      let left = x
      if (align === 'right' && width !== undefined) left += width - measure(runs, size)
      doc.fillColor(color)
      for (const run of runs) {
        doc.font(run.font, size).text(run.text, left, y, { lineBreak: false })
        left += doc.widthOfString(run.text)
      }
    },
    hasReplaced: () => hasReplaced,
  }
}

/**
 * Returns a function that says whether a font has a character. It remembers the answers, because
 * texts consist of few different characters, and a search is slow.
 */
function createGlyphLookup(doc: Document): (font: string, character: string) => boolean {
  const glyphs = new Map<string, boolean>()

  return (font, character) => {
    const key = font + character
    const known = glyphs.get(key)
    if (known !== undefined) return known
    doc.font(font)
    const { font: loadedFont } = (doc as unknown as DocumentWithFont)._font
    const exists = loadedFont.hasGlyphForCodePoint(character.codePointAt(0)!)
    glyphs.set(key, exists)
    return exists
  }
}

/**
 * Returns the largest number below `end` that passes a test, by bisection, or 0 if none does. All
 * numbers below one that passes must pass too.
 */
function findLargest(end: number, passes: (value: number) => boolean): number {
  let largest = 0
  let exceeding = end
  while (exceeding - largest > 1) {
    const middle = Math.floor((largest + exceeding) / 2)
    if (passes(middle)) largest = middle
    else exceeding = middle
  }
  return largest
}
