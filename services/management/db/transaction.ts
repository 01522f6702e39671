import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { Sql } from 'postgres'
import type { Connection } from './pool.ts'
import type { Transaction } from './session.ts'
import type { Settings } from './settings.ts'

export type { Transaction } from './session.ts'

/** May be done more than once, if other work came first: so it touches nothing but the database. */
export type Work<T> = (tx: Transaction) => Promise<T>

/**
 * Does work in a transaction on a connection that nobody else uses. What postgres.js and drizzle do here takes twice the
 * round trips: it begins and the settings are made in one, and nobody waits for the end where nothing can have changed.
 */
export async function transact<T>(
  { sql, tx }: Connection,
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
    result = await work(tx)
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
  const ended = sql.unsafe('commit').simple().execute()
  if (config.accessMode === 'read only') {
    // Whoever works on this connection next is behind it.
    ended.catch(() => {})
    return result
  }
  requireCommit((await ended).command)
  return result
}

/**
 * The same for who asks on a connection of his own. postgres.js's `begin` has a transaction undone on a connection that is
 * lost as well: it writes to a socket that is gone, which ends the process.
 */
export async function inTransaction<T>(sql: Sql, work: () => Promise<T>, mode = ''): Promise<T> {
  await sql.unsafe(`begin ${mode}`)
  let result: T
  try {
    result = await work()
  } catch (error) {
    await sql.unsafe('rollback').catch(() => {})
    throw error
  }
  requireCommit((await sql.unsafe('commit')).command)
  return result
}

/** Reads everything, whoever it belongs to, as it is at one moment. */
export const inSnapshot = <T>(sql: Sql, read: () => Promise<T>): Promise<T> =>
  inTransaction(
    sql,
    async () => {
      await sql`select set_config('eyrie.scope', 'all', true)`
      return read()
    },
    'isolation level repeatable read read only',
  )

function requireCommit(command: string): void {
  if (command !== 'COMMIT')
    throw new Error('a query of this work has failed, and the work has gone on: nothing is kept')
}

function beginning({ isolationLevel, accessMode, deferrable }: PgTransactionConfig): string {
  const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
  const access = accessMode ? ` ${accessMode}` : ''
  return `begin${level}${access}${deferrable ? ' deferrable' : ''}`
}

/** The settings end with the transaction, so that those that are empty are so already. */
const assignment = (settings: Settings) =>
  Object.entries(settings)
    .filter(([, value]) => value !== '' && value !== '{}')
    .map(([name, value]) => `set local ${quoted(name)} = ${literal(value)}`)
    .join('; ')

/** A name may be a word of SQL: `eyrie.user`. */
const quoted = (name: string) => `"${name.replace('.', '"."')}"`

function literal(text: string): string {
  if (text.includes('\0')) throw new Error('a setting of a transaction holds a null character')
  return `'${text.replaceAll("'", "''")}'`
}
