/**
 * Colours of object classes, such as `person`, for boxes and labels. They are bright enough for
 * dark text, and can be distinguished with colour-vision deficiencies (after Okabe and Ito).
 */
const PALETTE = [
  '#56d4b0',
  '#ffb938',
  '#6cc0f5',
  '#f58bc0',
  '#f3ea5d',
  '#ff8f5a',
  '#b7a6ff',
  '#a5dd6f',
]

const FIXED_COLORS: Record<string, string> = {
  person: PALETTE[0]!,
  car: PALETTE[1]!,
  bicycle: PALETTE[2]!,
}

/**
 * Returns the colour of an object class. It depends only on the name, so it is the same on every
 * page.
 */
export function getClassColor(name: string): string {
  const fixedColor = FIXED_COLORS[name]
  if (fixedColor) return fixedColor
  let hash = 0
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)!) >>> 0
  return PALETTE[hash % PALETTE.length]!
}
