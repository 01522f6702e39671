/** Bright enough for a dark text upon them, and told apart by people with any colour vision (after Okabe and Ito). */
const palette = ['#56d4b0', '#ffb938', '#6cc0f5', '#f58bc0', '#f3ea5d', '#ff8f5a', '#b7a6ff', '#a5dd6f']

const familiar: Record<string, string> = { person: palette[0]!, car: palette[1]!, bicycle: palette[2]! }

/** The same class has the same colour on every page and every day. */
export function classColour(name: string): string {
  let hash = 0
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)!) >>> 0
  return familiar[name] ?? palette[hash % palette.length]!
}
