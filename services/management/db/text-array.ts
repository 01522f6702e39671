import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** Formats a one-dimensional text array as a Postgres literal (manual, section 8.15.6). */
export const formatTextArray = (texts: readonly (string | null)[]): string =>
  `{${texts.map(text => (text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`

const element = /"((?:[^"\\]|\\.)*)"|[^,]+/gs

/** Parses the literal of a one-dimensional text array. */
export function parseTextArray(literal: string): (string | null)[] {
  const elements = literal.slice(1, -1)
  if (elements.length === 0) return []
  // Without quotes there are no escapes, and every comma is a separator.
  if (!elements.includes('"')) return elements.split(',').map(parseUnquoted)
  return [...elements.matchAll(element)].map(([plain, quoted]) =>
    quoted === undefined ? parseUnquoted(plain) : quoted.replace(/\\(.)/gs, '$1'),
  )
}

const parseUnquoted = (text: string) => (text === 'NULL' ? null : text)

/** Arrays of `text`, `name` and `uuid` for postgres.js, by their type OIDs. */
export const textArrayType = {
  to: 1009,
  from: [1009, 1003, 2951],
  // drizzle passes columns of arrays as literals.
  serialize: (value: string | readonly string[]) =>
    typeof value === 'string' ? value : formatTextArray(value),
  parse: parseTextArray,
}

/**
 * Whether a column has one of the ids. Unlike `inArray` of drizzle, which has a parameter per id, this is the same
 * statement for any number of ids, so that it can be prepared.
 */
export const isAnyOf = (column: PgColumn, ids: readonly string[]): SQL =>
  sql`${column} = any (${formatTextArray(ids)}::uuid[])`
