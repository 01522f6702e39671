/** How the characters of an SMS are encoded. */
export type SmsEncoding = 'GSM-7' | 'UCS-2'

/** The size of a text as an SMS. */
export interface SmsSize {
  encoding: SmsEncoding
  /** Number of messages in which the text is sent, each of which is charged. */
  segments: number
  /** Units that the text occupies: septets in GSM-7, 16-bit code units in UCS-2. */
  units: number
}

// The default alphabet and its extension table (3GPP TS 23.038, 6.2.1). A character of the
// extension needs an escape.
const GSM_BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const GSM_EXTENSION = new Set('\f^{}\\[~]|€')

/**
 * Units that fit in the single message of a short text, and in each segment of a long text. The
 * header of a segment takes six bytes (3GPP TS 23.040, 9.2.3.24).
 */
const CAPACITY: Record<SmsEncoding, { single: number; segment: number }> = {
  'GSM-7': { single: 160, segment: 153 },
  'UCS-2': { single: 70, segment: 67 },
}

/**
 * Typographic characters, and what replaces them. They are not in GSM-7: a single one in a text
 * would halve the capacity of its segments.
 */
const REPLACEMENTS: Record<string, string> = {
  '≥': '>=',
  '≤': '<=',
  '≠': '!=',
  '…': '...',
  '–': '-',
  '—': '-',
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '\u00a0': ' ',
}
const TYPOGRAPHIC_CHARACTER = new RegExp(`[${Object.keys(REPLACEMENTS).join('')}]`, 'g')

/** Measures a text: how it is encoded, and in how many segments it is sent. */
export function measureSms(text: string): SmsSize {
  const characters = [...text]
  const isGsm = characters.every(
    character => GSM_BASIC.has(character) || GSM_EXTENSION.has(character),
  )
  const encoding = isGsm ? 'GSM-7' : 'UCS-2'
  const sizes = characters.map(character => countUnits(character, encoding))
  const units = sizes.reduce((sum, size) => sum + size, 0)
  const { single, segment } = CAPACITY[encoding]
  return { encoding, units, segments: units <= single ? 1 : countSegments(sizes, segment) }
}

function countUnits(character: string, encoding: SmsEncoding): number {
  if (encoding === 'UCS-2') return character.length
  return GSM_EXTENSION.has(character) ? 2 : 1
}

/** Counts the segments of a long text. No character is split between two segments. */
function countSegments(sizes: readonly number[], capacity: number): number {
  let segments = 1
  let usedUnits = 0
  for (const size of sizes) {
    if (usedUnits + size > capacity) {
      segments += 1
      usedUnits = 0
    }
    usedUnits += size
  }
  return segments
}

/**
 * Returns the text of an SMS: without repeated spaces, with typographic characters replaced if all
 * others are in GSM-7, and shortened at the end of a word to `maxSegments` segments.
 */
export function toSmsText(text: string, maxSegments: number): string {
  const trimmed = text.replace(/[^\S\n]+/g, ' ').trim()
  const plain = trimmed.replace(TYPOGRAPHIC_CHARACTER, character => REPLACEMENTS[character]!)
  const isGsm = measureSms(plain).encoding === 'GSM-7'
  const complete = isGsm ? plain : trimmed
  // The character of the ellipsis is not in GSM-7.
  return shorten(complete, maxSegments, isGsm ? '...' : '…')
}

/**
 * Returns the text itself if it fits. Otherwise finds, by bisection, its longest beginning that
 * fits together with the ellipsis.
 */
function shorten(complete: string, maxSegments: number, ellipsis: string): string {
  const fits = (candidate: string) => measureSms(candidate).segments <= maxSegments
  if (fits(complete)) return complete

  const characters = [...complete]
  let low = 0
  let high = characters.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(characters.slice(0, middle).join('') + ellipsis)) low = middle
    else high = middle - 1
  }
  return cutAtWord(characters.slice(0, low).join(''), complete) + ellipsis
}

/** Removes an incomplete word at the end of `start`, unless more than half of it would be lost. */
function cutAtWord(start: string, complete: string): string {
  const endsWithWord = /\s/.test(complete.charAt(start.length))
  const lastSpace = start.search(/\s\S*$/)
  const cut = endsWithWord || lastSpace < start.length / 2 ? start : start.slice(0, lastSpace)
  return cut.replace(/[\s,;:.–-]+$/, '')
}
