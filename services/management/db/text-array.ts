/** An array of texts as Postgres writes it, of one dimension (its manual, 8.15.6). */
export const writeTextArray = (texts: readonly (string | null)[]): string =>
  `{${texts.map(text => (text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

const element = /"((?:[^"\\]|\\.)*)"|[^,]+/gs

export function readTextArray(array: string): (string | null)[] {
  const elements = array.slice(1, -1)
  if (elements.length === 0) return []
  // Without quotes nothing is escaped, and commas do nothing but separate.
  if (!elements.includes('"')) return elements.split(',').map(unquoted)
  return [...elements.matchAll(element)].map(([plain, quoted]) =>
    quoted === undefined ? unquoted(plain) : quoted.replace(/\\(.)/gs, '$1'),
  )
}

const unquoted = (text: string) => (text === 'NULL' ? null : text)

/** For postgres.js: arrays of `text`, `name` and `uuid`. */
export const textArrays = {
  to: 1009,
  from: [1009, 1003, 2951],
  serialize: (given: string | readonly string[]) =>
    typeof given === 'string' ? given : writeTextArray(given),
  parse: readTextArray,
}
