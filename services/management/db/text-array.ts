import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** Matches a quoted element, with its content as the first group, or an unquoted element. */
const ELEMENT = /"((?:[^"\\]|\\.)*)"|[^,]+/gs
/** Object ids of types in the Postgres catalog (pg_type.dat). */
const TEXT_ARRAY_OID = 1009
const NAME_ARRAY_OID = 1003
const UUID_ARRAY_OID = 2951

// Conversion between JavaScript arrays and array literals of Postgres, in which
// arrays are sent as text.

/**
 * Formats a one-dimensional text array as a Postgres literal, such as `{"a",NULL}` (Postgres
 * manual, section 8.15.6).
 */
export const formatTextArray = (texts: readonly (string | null)[]): string =>
  `{${texts.map(formatElement).join(',')}}`

function formatElement(text: string | null): string {
  if (text === null) return 'NULL'
  const escaped = text.replace(/["\\]/g, '\\$&')
  return `"${escaped}"`
}

/** Parses the literal of a one-dimensional text array. */
export function parseTextArray(literal: string): (string | null)[] {
  const elements = literal.slice(1, -1)
  if (elements.length === 0) return []
  // Fast path: without quotes, every comma is a separator.
  if (!elements.includes('"')) return elements.split(',').map(parseUnquoted)
  return Array.from(elements.matchAll(ELEMENT), ([plain, quoted]) =>
    quoted === undefined ? parseUnquoted(plain) : quoted.replace(/\\(.)/gs, '$1'),
  )
}

const parseUnquoted = (text: string) => (text === 'NULL' ? null : text)

/** A postgres.js type that parses arrays of `text`, `name` and `uuid`. */
export const textArrayType = {
  to: TEXT_ARRAY_OID,
  from: [TEXT_ARRAY_OID, NAME_ARRAY_OID, UUID_ARRAY_OID],
  // drizzle has already formatted the values of array columns as literals.
  serialize: (value: string | readonly string[]) =>
    typeof value === 'string' ? value : formatTextArray(value),
  parse: parseTextArray,
}

/**
 * Returns the SQL condition that a column contains one of the ids. It has a single parameter,
 * so that one prepared statement serves any number of ids; drizzle's `inArray` has a
 * parameter for each id.
 */
export const isAnyOf = (column: PgColumn, ids: readonly string[]): SQL =>
  isInArray(column, formatTextArray(ids))

/** Like `isAnyOf`, for ids in an array literal or in a placeholder of a prepared statement. */
export const isInArray = (column: PgColumn, literal: string | Placeholder): SQL =>
  sql`${column} = any (${literal}::uuid[])`
