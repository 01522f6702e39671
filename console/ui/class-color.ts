/** Bright enough for dark text, and distinguishable with colour-vision deficiencies (after Okabe and Ito). */
const palette = ['#56d4b0', '#ffb938', '#6cc0f5', '#f58bc0', '#f3ea5d', '#ff8f5a', '#b7a6ff', '#a5dd6f']

const fixedColors: Record<string, string> = { person: palette[0]!, car: palette[1]!, bicycle: palette[2]! }

/** The colour of an object class. It depends on nothing but the name, so it is the same on every page. */
export function classColor(name: string): string {
  let hash = 0
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)!) >>> 0
  return fixedColors[name] ?? palette[hash % palette.length]!
}
