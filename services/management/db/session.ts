import { Column, type DriverValueDecoder, is, SQL, Subquery } from 'drizzle-orm'
import { PgDialect, type PreparedQueryConfig } from 'drizzle-orm/pg-core'
import { PostgresJsSession, PostgresJsTransaction } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'

type Nothing = Record<string, never>
type Query = Parameters<PostgresJsSession<Sql, Nothing, Nothing>['prepareQuery']>
type Fields = NonNullable<Query[1]>

/** How the work of one transaction asks. One connection's are all the same object, since they come one after the other. */
export type Transaction = PostgresJsTransaction<Nothing, Nothing>

/** Drizzle tells a connection in a transaction from others by its type alone. */
type TransactionSession = ConstructorParameters<typeof PostgresJsTransaction<Nothing, Nothing>>[1]

const dialect = new PgDialect()

export function transactionOn(sql: Sql): Transaction {
  const session = new Session(sql, dialect, undefined)
  return new PostgresJsTransaction(dialect, session as unknown as TransactionSession, undefined)
}

/** Queries of more parameters are lists of every length: each would stay parsed for as long as the connection lasts. */
const MOST_PARAMETERS = 16

class Session extends PostgresJsSession<Sql, Nothing, Nothing> {
  /** Drizzle has a query parsed anew each time unless it has a name, and finds out for every cell how to read it. */
  override prepareQuery<T extends PreparedQueryConfig>(
    ...[query, fields, name, isArray, read, ...rest]: Query
  ) {
    const { length } = query.params
    const kept = name ?? (length > 0 && length <= MOST_PARAMETERS ? '' : undefined)
    return super.prepareQuery<T>(query, fields, kept, isArray, read ?? (fields && readerOf(fields)), ...rest)
  }
}

/** Makes rows of their cells; undefined where some lie deeper, which drizzle reads itself. */
function readerOf(fields: Fields): ((rows: unknown[][]) => unknown[]) | undefined {
  if (fields.some(({ path, field }) => path.length > 1 || is(field, Subquery))) return undefined
  const reads = fields.map(({ field }) => decoderOf(field))
  const values = fields.map(({ path }, n) => {
    const value = reads[n] ? `cells[${n}] === null ? null : reads[${n}](cells[${n}])` : `cells[${n}]`
    return `${JSON.stringify(path[0])}: ${value}`
  })
  const make = makerOf(`({ ${values.join(', ')} })`)(reads)
  return rows => {
    const made = rows.map(cells => make(cells))
    // A query of postgres.js, and with it what it was answered, stays until all of the heap is collected.
    rows.length = 0
    return made
  }
}

type Reads = (((value: unknown) => unknown) | undefined)[]
type Maker = (reads: Reads) => (cells: unknown[]) => unknown

const makers = new Map<string, Maker>()

/** Compiled from text, so that rows have their shape from the beginning: to grow one field by field takes ten times as long. */
function makerOf(row: string): Maker {
  const known = makers.get(row) ?? (new Function('reads', `return cells => ${row}`) as Maker)
  makers.set(row, known)
  return known
}

/** Undefined where a value is what the driver gives. */
function decoderOf(field: Fields[number]['field']): ((value: unknown) => unknown) | undefined {
  const decoder = is(field, Column) ? field : expressionOf(field).decoder
  if (decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue) return undefined
  return value => decoder.mapFromDriverValue(value)
}

/** What drizzle's types do not tell of an expression: how its values are read. */
const expressionOf = (field: Fields[number]['field']) =>
  (is(field, SQL.Aliased) ? field.sql : field) as unknown as { decoder: DriverValueDecoder<unknown, unknown> }
