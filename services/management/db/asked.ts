import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Transaction } from './transaction.ts'

/** What columns are to have; of a list of ids, one. */
export type Match<Columns> = {
  readonly [Name in keyof Columns as Columns[Name] extends PgColumn ? Name : never]?:
    | string
    | boolean
    | readonly string[]
}

interface Query<Row> {
  prepare(name: string): Prepared<Row>
}

interface Prepared<Row> {
  execute(values: Record<string, unknown>): Promise<Row[]>
}

/**
 * A query that is asked by some of these columns. For each choice of them it is written once on each connection, as
 * Postgres parses and plans it once there: for drizzle, to write a query is more work than it is for Postgres to answer.
 */
export function asked<Columns extends object, Row>(
  columns: Columns,
  write: (tx: Transaction, condition: SQL | undefined) => Query<Row>,
): (tx: Transaction, match: Match<Columns>) => Promise<Row[]> {
  const written = new WeakMap<Transaction, Map<string, Prepared<Row>>>()

  function prepare(tx: Transaction, given: [string, unknown][]): Prepared<Row> {
    const conditions = given.map(([name, value]) => {
      const column = columns[name as keyof Columns] as PgColumn
      const placeholder = sql.placeholder(name)
      return Array.isArray(value) ? sql`${column} = any (${placeholder}::uuid[])` : eq(column, placeholder)
    })
    return write(tx, and(...conditions)).prepare('')
  }

  return async (tx, match) => {
    const given = Object.entries(match).filter(([, value]) => value !== undefined)
    const key = given.map(([name, value]) => (Array.isArray(value) ? `${name}[]` : name)).join()
    const known = written.get(tx) ?? new Map<string, Prepared<Row>>()
    written.set(tx, known)
    const query = known.get(key) ?? prepare(tx, given)
    known.set(key, query)
    return query.execute(Object.fromEntries(given.map(([name, value]) => [name, parameterOf(value)])))
  }
}

/** A list of ids is one parameter: however many they are, it is the same query. */
const parameterOf = (value: unknown) => (Array.isArray(value) ? `{${value.join(',')}}` : value)
