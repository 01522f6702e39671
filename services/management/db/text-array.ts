/** An array of texts as Postgres writes it, of one dimension (its manual, 8.15.6). */
export const writeTextArray = (texts: readonly (string | null)[]): string =>
  `{${texts.map(text => (text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

const element = /"((?:[^"\\]|\\.)*)"|[^,]+/gs

export const readTextArray = (array: string): (string | null)[] =>
  [...array.slice(1, -1).matchAll(element)].map(([plain, quoted]) =>
    quoted === undefined ? (plain === 'NULL' ? null : plain) : quoted.replace(/\\(.)/gs, '$1'),
  )

/** For postgres.js: arrays of `text`, `name` and `uuid`. */
export const textArrays = {
  to: 1009,
  from: [1009, 1003, 2951],
  serialize: (given: string | readonly string[]) =>
    typeof given === 'string' ? given : writeTextArray(given),
  parse: readTextArray,
}
