/** The fields of a cron expression and what they may hold. Sunday is 0 and 7. */
const fields = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, words: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  { name: 'day of the week', least: 0, most: 7, words: 'sun mon tue wed thu fri sat'.split(' ') },
] as const

type Field = (typeof fields)[number]

/** What is wrong with a cron expression of five fields; undefined where nothing is. */
export function cronFault(expression: string): string | undefined {
  const parts = expression.trim().split(/\s+/)
  if (parts.length !== fields.length)
    return 'has five fields: minute, hour, day of the month, month, day of the week'
  const wrong = fields.find((field, place) => !parts[place]!.split(',').every(item => fits(item, field)))
  return (
    wrong &&
    `its ${wrong.name} is wrong: ${wrong.least} to ${wrong.most}, *, a-b, */n, or several with commas`
  )
}

/** One item of a field: `*`, a value or a range, perhaps with a step. */
function fits(item: string, field: Field): boolean {
  const [, span, step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(item) ?? []
  if (span === undefined || (step !== undefined && Number(step) < 1)) return false
  if (span === '*') return true
  const ends = span.split('-').map(value => numberFor(value, field))
  if (ends.length > 2 || ends.some(value => value === undefined)) return false
  const [first, last = first] = ends as number[]
  return first! <= last!
}

function numberFor(text: string, field: Field): number | undefined {
  const word = 'words' in field ? (field.words as readonly string[]).indexOf(text.toLowerCase()) : -1
  const value = word >= 0 ? word + field.least : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= field.least && value <= field.most ? value : undefined
}
