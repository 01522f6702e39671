import { PgDialect, type PgTransactionConfig } from 'drizzle-orm/pg-core'
import { PostgresJsSession, PostgresJsTransaction } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import type { Settings } from './settings.ts'

/** One transaction, in which all of a piece of work is done. */
export type Transaction = PostgresJsTransaction<Record<string, never>, Record<string, never>>

/** May be done more than once, if other work came first: so it touches nothing but the database. */
export type Work<T> = (tx: Transaction) => Promise<T>

/** Drizzle tells a connection in a transaction from others by its type alone. */
type TransactionSession = ConstructorParameters<typeof PostgresJsTransaction>[1]

const dialect = new PgDialect()

/**
 * Does work in a transaction on a connection that nobody else uses. What postgres.js and drizzle do here takes twice the
 * round trips: it begins and the settings are made in one, and queries are parsed once for each connection.
 */
export async function transact<T>(
  sql: Sql,
  settings: Settings,
  work: Work<T>,
  config: PgTransactionConfig = {},
): Promise<T> {
  // The first query is sent behind it, unanswered: should it fail, that query meets no rights, so it sees and changes nothing.
  const begun = sql
    .unsafe(`${beginning(config)}; ${assignment(settings)}`)
    .simple()
    .execute()
  begun.catch(() => {})
  let result: T
  try {
    const session = new PostgresJsSession(preparing(sql), dialect, undefined)
    const tx = new PostgresJsTransaction(dialect, session as unknown as TransactionSession, undefined)
    result = await work(tx as Transaction)
    await begun
  } catch (error) {
    const cause = await begun.then(
      () => error,
      reason => reason,
    )
    // Where the connection is lost, so is the transaction; it is the work's error that matters.
    await sql.unsafe('rollback').catch(() => {})
    throw cause
  }
  const { command } = await sql.unsafe('commit')
  if (command !== 'COMMIT')
    throw new Error('a query of this work has failed, and the work has gone on: nothing is kept')
  return result
}

function beginning({ isolationLevel, accessMode, deferrable }: PgTransactionConfig): string {
  const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
  const access = accessMode ? ` ${accessMode}` : ''
  return `begin${level}${access}${deferrable ? ' deferrable' : ''}`
}

/** The settings end with the transaction. */
const assignment = (settings: Settings) =>
  `select ${Object.entries(settings)
    .map(([name, value]) => `set_config(${literal(name)}, ${literal(value)}, true)`)
    .join(', ')}`

function literal(text: string): string {
  if (text.includes('\0')) throw new Error('a setting of a transaction holds a null character')
  return `'${text.replaceAll("'", "''")}'`
}

/** Queries of more parameters are lists of every length: each would stay parsed for as long as the connection lasts. */
const MOST_PARAMETERS = 16

/** The connection as drizzle wants it, which has every query parsed anew otherwise. */
function preparing(sql: Sql): Sql {
  const unsafe: Sql['unsafe'] = (text, parameters = [], options = {}) =>
    sql.unsafe(text, parameters, {
      ...options,
      prepare: parameters.length > 0 && parameters.length <= MOST_PARAMETERS,
    })
  return Object.assign((...args: Parameters<Sql>) => sql(...args), sql, {
    unsafe,
  }) as Sql
}
