/** How the characters of an SMS are encoded. */
export type SmsEncoding = 'GSM-7' | 'UCS-2'

/** The size of a text as an SMS. */
export interface SmsSize {
  encoding: SmsEncoding
  /** Number of messages of which the SMS consists. Each one is charged. */
  segments: number
  /** Units that the text occupies: septets in GSM-7, 16-bit code units in UCS-2. */
  units: number
}

// The default alphabet and its extension table (3GPP TS 23.038, 6.2.1). A character of the extension needs an escape.
const GSM_BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const GSM_EXTENSION = new Set('\f^{}\\[~]|€')

/** Units in a message that stands alone, and in each one of several, where a header takes six bytes (3GPP TS 23.040, 9.2.3.24). */
const CAPACITY: Record<SmsEncoding, { alone: number; joined: number }> = {
  'GSM-7': { alone: 160, joined: 153 },
  'UCS-2': { alone: 70, joined: 67 },
}

/** Characters that are typographic variants of GSM-7 characters. One of them would halve the capacity of a message. */
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

/** Returns the number of messages that a text needs as an SMS. */
export function measureSms(text: string): SmsSize {
  const characters = [...text]
  const isGsm = characters.every(each => GSM_BASIC.has(each) || GSM_EXTENSION.has(each))
  const encoding = isGsm ? 'GSM-7' : 'UCS-2'
  const sizes = characters.map(each => measureCharacter(each, encoding))
  const units = sizes.reduce((sum, size) => sum + size, 0)
  const { alone, joined } = CAPACITY[encoding]
  return { encoding, units, segments: units <= alone ? 1 : countJoined(sizes, joined) }
}

const measureCharacter = (character: string, encoding: SmsEncoding) =>
  encoding === 'UCS-2' ? character.length : GSM_EXTENSION.has(character) ? 2 : 1

/** An escape or a surrogate pair is not split between two messages. */
function countJoined(sizes: readonly number[], capacity: number): number {
  let segments = 1
  let used = 0
  for (const size of sizes) {
    if (used + size > capacity) {
      segments += 1
      used = 0
    }
    used += size
  }
  return segments
}

/**
 * Returns the text of an SMS: on one paragraph, with typographic characters replaced if the rest is GSM-7, and shortened at the
 * end of a word to `maxSegments` messages.
 */
export function toSmsText(text: string, maxSegments: number): string {
  const trimmed = text.replace(/[^\S\n]+/g, ' ').trim()
  const plain = trimmed.replace(/[≥≤≠…–—’‘“”„\u00a0]/g, character => REPLACEMENTS[character]!)
  const complete = measureSms(plain).encoding === 'GSM-7' ? plain : trimmed
  const fits = (candidate: string) => measureSms(candidate).segments <= maxSegments
  if (fits(complete)) return complete

  // The ellipsis is not a character of GSM-7.
  const ellipsis = measureSms(complete).encoding === 'GSM-7' ? '...' : '…'
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

/** Removes the beginning of a word at the end, unless most of the text would be lost. */
function cutAtWord(start: string, complete: string): string {
  const endsWithWord = /\s/.test(complete.charAt(start.length))
  const lastSpace = start.search(/\s\S*$/)
  const cut = endsWithWord || lastSpace < start.length / 2 ? start : start.slice(0, lastSpace)
  return cut.replace(/[\s,;:.–-]+$/, '')
}
