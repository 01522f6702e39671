import type { Sql } from 'postgres'

/**
 * Maximum number of statements that are prepared on a connection. Each keeps its plan in the
 * memory of the server.
 */
const MAX_PREPARED = 200
/** Maximum number of statements of which the first use is remembered. */
const MAX_REMEMBERED = 200
/** In characters. Longer statements, such as inserts of many rows, are rarely repeated. */
const MAX_LENGTH = 5_000
/**
 * The extended protocol, which prepared statements need, accepts a single statement: no semicolons.
 * A statement that begins with a comment, or has a semicolon in one, is not prepared either.
 */
const PREPARABLE = /^\s*(select|insert|update|delete|with)\b[^;]*$/i
/** `simple` is an option of postgres.js that its types lack. */
const PREPARED = { prepare: true, simple: false } as { prepare: boolean }

/**
 * Returns the client of a connection for drizzle. It prepares a statement that is used a second
 * time, so that the server parses and plans it once instead of at every use.
 */
export function withPreparedStatements(sql: Sql): Sql {
  const usedOnce = new Set<string>()
  const prepared = new Set<string>()

  /** Remembers a use of a statement. Returns whether the statement is prepared for it. */
  function recordUse(statement: string): boolean {
    if (prepared.has(statement)) return true
    if (prepared.size >= MAX_PREPARED || !isPreparable(statement)) return false

    const isSecondUse = usedOnce.delete(statement)
    if (isSecondUse) {
      prepared.add(statement)
    } else {
      if (usedOnce.size >= MAX_REMEMBERED) usedOnce.clear()
      usedOnce.add(statement)
    }
    return isSecondUse
  }

  // drizzle sends all statements with this method.
  const unsafe: Sql['unsafe'] = (statement, parameters, options) =>
    sql.unsafe(statement, parameters, recordUse(statement) ? PREPARED : options)
  // Inherits everything else from the client, which remains unchanged.
  return Object.assign(Object.create(sql) as Sql, { unsafe })
}

const isPreparable = (statement: string) =>
  statement.length <= MAX_LENGTH && PREPARABLE.test(statement)
