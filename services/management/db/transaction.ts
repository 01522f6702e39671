import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import type { TransactionSettings } from './transaction-settings.ts'

/** The queries of one transaction. There are no nested transactions. */
export type Transaction = Omit<PostgresJsDatabase, 'transaction'>

/** The body of a transaction. It is repeated after a conflict, so it must have no effects outside the database. */
export type Work<T> = (tx: Transaction) => Promise<T>

interface TransactionOptions extends Pick<PgTransactionConfig, 'isolationLevel' | 'accessMode'> {
  settings?: TransactionSettings
}

/**
 * Runs work in a transaction on a client of one connection (see `connect`). `sql.begin` of postgres.js is not used: it
 * writes ROLLBACK to a lost connection, which crashes the process (its issue 1208).
 */
export async function withTransaction<T>(
  sql: Sql,
  work: () => Promise<T>,
  { settings = {}, isolationLevel, accessMode }: TransactionOptions = {},
): Promise<T> {
  const isolation = isolationLevel ? `isolation level ${isolationLevel}` : ''
  let result: T
  try {
    // Sent together, which saves a round trip.
    await Promise.all([sql.unsafe(`begin ${isolation} ${accessMode ?? ''}`), applySettings(sql, settings)])
    result = await work()
  } catch (error) {
    await sql.unsafe('rollback').catch(() => {})
    throw error
  }
  // Postgres answers a COMMIT after a failed query by ROLLBACK.
  const { command } = await sql.unsafe('commit')
  if (command !== 'COMMIT')
    throw new Error('the transaction was rolled back because one of its queries failed')
  return result
}

/** The settings end with the transaction. */
const applySettings = (sql: Sql, settings: TransactionSettings) =>
  sql`select set_config(name, value, true) from json_each_text(${JSON.stringify(settings)}::text::json) as setting (name, value)`

/** Reads the rows of all organizations in one snapshot. */
export const withSnapshot = <T>(sql: Sql, read: () => Promise<T>): Promise<T> =>
  withTransaction(sql, read, {
    settings: { 'eyrie.scope': 'all' },
    isolationLevel: 'repeatable read',
    accessMode: 'read only',
  })
