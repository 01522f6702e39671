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

/** Writes text of any script, each character in the first font that has it. */
export interface PdfText {
  /** Writes one line; `y` is its top. */
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

/** The member of a font of PDFKit that its types lack: a font of fontkit. */
interface LoadedFont {
  _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean } }
}

export function createPdfText(doc: Document, { regular, bold, fallback }: PdfFonts): PdfText {
  doc.registerFont('regular', regular)
  doc.registerFont('bold', bold)
  if (fallback) doc.registerFont('fallback', fallback)
  let replaced = false

  /** Whether a font has a character, by both: texts consist of few characters, and looking one up is slow. */
  const known = new Map<string, boolean>()

  function hasGlyph(font: string, character: string): boolean {
    const key = font + character
    const found = known.get(key)
    if (found !== undefined) return found
    doc.font(font)
    const has = (doc as unknown as LoadedFont)._font.font.hasGlyphForCodePoint(character.codePointAt(0)!)
    known.set(key, has)
    return has
  }

  function splitRuns(text: string, primary: string): Run[] {
    const fonts = fallback ? [primary, 'fallback'] : [primary]
    const runs: Run[] = []
    // Control characters have no width, and would end the line.
    for (const character of text.replace(/\p{Cc}+/gu, ' ')) {
      const font = fonts.find(name => hasGlyph(name, character))
      if (!font) replaced = true
      const run = { font: font ?? primary, text: font ? character : REPLACEMENT }
      const last = runs.at(-1)
      if (last?.font === run.font) last.text += run.text
      else runs.push(run)
    }
    return runs
  }

  const measure = (runs: readonly Run[], size: number) =>
    runs.reduce((sum, run) => sum + doc.font(run.font, size).widthOfString(run.text), 0)

  /** Returns the runs of as much of the text as fits. */
  function cutToWidth(text: string, font: string, size: number, width: number): Run[] {
    const runs = splitRuns(text, font)
    if (measure(runs, size) <= width) return runs
    const characters = Array.from(text)
    let [fits, exceeds] = [0, characters.length]
    while (exceeds - fits > 1) {
      const middle = Math.floor((fits + exceeds) / 2)
      const candidate = splitRuns(characters.slice(0, middle).join('') + ELLIPSIS, font)
      if (measure(candidate, size) <= width) fits = middle
      else exceeds = middle
    }
    return splitRuns(characters.slice(0, fits).join('') + ELLIPSIS, font)
  }

  return {
    write(text, x, y, { size = 9, isBold = false, color = '#1f2933', width, align = 'left' } = {}) {
      const font = isBold ? 'bold' : 'regular'
      const runs = width === undefined ? splitRuns(text, font) : cutToWidth(text, font, size, width)
      let left = x
      if (align === 'right' && width !== undefined) left += width - measure(runs, size)
      doc.fillColor(color)
      for (const run of runs) {
        doc.font(run.font, size).text(run.text, left, y, { lineBreak: false })
        left += doc.widthOfString(run.text)
      }
    },
    hasReplaced: () => replaced,
  }
}
