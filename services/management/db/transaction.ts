import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import type { TransactionSettings } from './transaction-settings.ts'

/** Runs queries in a transaction. Transactions cannot be nested. */
export type Transaction = Omit<PostgresJsDatabase, 'transaction'>

/**
 * The body of a transaction. It must have no effects outside the database, because it is
 * repeated after a conflict.
 */
export type Work<T> = (tx: Transaction) => Promise<T>

/** How a transaction runs. */
export interface TransactionConfig
  extends Pick<PgTransactionConfig, 'isolationLevel' | 'accessMode'> {
  /**
   * Has each statement planned when it runs, instead of once for a connection. For
   * transactions that read tables which grow from empty to large within minutes: a plan that
   * was made before would scan them.
   */
  isPlannedAnew?: boolean
}

interface TransactionOptions extends TransactionConfig {
  settings?: TransactionSettings
}

/**
 * Runs work in a transaction on a client of one connection (see `connect`). Does not use
 * `sql.begin` of postgres.js, which crashes the process by writing ROLLBACK to a lost connection
 * (porsager/postgres issue 1208).
 */
export async function withTransaction<T>(
  sql: Sql,
  work: () => Promise<T>,
  { settings = {}, isolationLevel, accessMode }: TransactionOptions = {},
): Promise<T> {
  const isolation = isolationLevel ? `isolation level ${isolationLevel}` : ''
  let result: T
  try {
    // Both queries are sent at once to save a round trip.
    await Promise.all([
      sql.unsafe(`begin ${isolation} ${accessMode ?? ''}`),
      applySettings(sql, settings),
    ])
    result = await work()
  } catch (error) {
    await sql.unsafe('rollback').catch(() => {})
    throw error
  }
  // If a query has failed, COMMIT rolls the transaction back and reports ROLLBACK
  // instead of an error.
  const { command } = await sql.unsafe('commit')
  if (command !== 'COMMIT') {
    throw new Error('the transaction was rolled back because one of its queries failed')
  }
  return result
}

/** Sets parameters until the end of the transaction. */
const applySettings = (sql: Sql, settings: TransactionSettings) =>
  sql`
    select set_config(name, value, true)
    from json_each_text(${JSON.stringify(settings)}::text::json) as setting (name, value)`

/** Reads rows of all organizations from a single snapshot of the database. */
export const withSnapshot = <T>(sql: Sql, read: () => Promise<T>): Promise<T> =>
  withTransaction(sql, read, {
    settings: { 'eyrie.scope': 'all' },
    isolationLevel: 'repeatable read',
    accessMode: 'read only',
  })
