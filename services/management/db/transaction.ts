import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import type { Connection } from './connection-pool.ts'
import type { TransactionSettings } from './transaction-settings.ts'

/** The queries of one transaction. There are no nested transactions. */
export type Transaction = Omit<PostgresJsDatabase, 'transaction'>

/** The body of a transaction. It is repeated after a conflict, so it must have no effects outside the database. */
export type Work<T> = (tx: Transaction) => Promise<T>

/** Runs work in a transaction whose settings are what the policies and triggers of the database read. */
export const withSettings = <T>(
  { sql, db }: Connection,
  settings: TransactionSettings,
  work: Work<T>,
  config?: PgTransactionConfig,
): Promise<T> =>
  withTransaction(
    sql,
    async () => {
      await sql`select set_config(name, value, true) from jsonb_each_text(${JSON.stringify(settings)}::jsonb) as setting (name, value)`
      return work(db)
    },
    toMode(config),
  )

const toMode = ({ isolationLevel, accessMode }: PgTransactionConfig = {}) =>
  [isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(Boolean).join(' ')

/**
 * Runs work in a transaction on a client of one connection. `sql.begin` of postgres.js is not used: it writes ROLLBACK to
 * a lost connection, which crashes the process (its issue 1208).
 */
export async function withTransaction<T>(sql: Sql, work: () => Promise<T>, mode = ''): Promise<T> {
  await sql.unsafe(`begin ${mode}`)
  let result: T
  try {
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

/** Reads all rows of all organizations in one snapshot. */
export const withSnapshot = <T>(sql: Sql, read: () => Promise<T>): Promise<T> =>
  withTransaction(
    sql,
    async () => {
      await sql`select set_config('eyrie.scope', 'all', true)`
      return read()
    },
    'isolation level repeatable read read only',
  )
