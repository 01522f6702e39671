import { E_CANCELED, Semaphore } from 'async-mutex'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import { withPreparedStatements } from './prepared-statements.ts'

/** A database connection, which one task uses at a time. */
export interface Connection {
  sql: Sql
  /** Prepares statements that are repeated. */
  db: PostgresJsDatabase
  /** Has each statement planned when it runs. */
  unpreparedDb: PostgresJsDatabase
}

/** A limited number of connections that tasks share. A lost connection is replaced by a new one. */
export interface ConnectionPool {
  /** Waits for a free connection and runs a task with it. */
  use<T>(task: (connection: Connection) => Promise<T>): Promise<T>
  /**
   * Closes all connections. A connection that is still in use after a second is closed regardless.
   */
  close(): Promise<void>
}

/** Time limit for closing a connection that is still in use. */
const CLOSE_TIMEOUT_S = 1

/**
 * Creates a pool of at most `size` postgres.js clients with one connection each. The pool of
 * postgres.js itself is not used, because it reuses a client whose connection was lost (see
 * `connect`). `open` returns a new client and calls `onLost` when its connection is lost.
 */
export function createConnectionPool(
  size: number,
  open: (onLost: () => void) => Sql,
): ConnectionPool {
  /** One permit for each task that may use a connection. */
  const permits = new Semaphore(size)
  const connections = new Set<Connection>()
  const idle: Connection[] = []
  let isClosed = false

  function openConnection(): Connection {
    const sql = open(() => discard(connection))
    const connection = { sql, db: drizzle(withPreparedStatements(sql)), unpreparedDb: drizzle(sql) }
    connections.add(connection)
    return connection
  }

  function discard(connection: Connection): void {
    connections.delete(connection)
    const index = idle.indexOf(connection)
    if (index >= 0) idle.splice(index, 1)
  }

  async function runWithConnection<T>(task: (connection: Connection) => Promise<T>): Promise<T> {
    if (isClosed) throw createClosedError()
    const connection = idle.pop() ?? openConnection()
    try {
      return await task(connection)
    } finally {
      // A connection that was lost during the task is not reused.
      if (connections.has(connection)) idle.push(connection)
    }
  }

  return {
    async use(task) {
      try {
        return await permits.runExclusive(() => runWithConnection(task))
      } catch (error) {
        // `close` cancels tasks that still wait for a permit.
        throw error === E_CANCELED ? createClosedError() : error
      }
    },
    async close() {
      isClosed = true
      permits.cancel()
      await Promise.all(Array.from(connections, ({ sql }) => sql.end({ timeout: CLOSE_TIMEOUT_S })))
    },
  }
}

/** Creates an error with the code that postgres.js uses for a closed client. */
const createClosedError = () =>
  Object.assign(new Error('the connection pool is closed'), { code: 'CONNECTION_ENDED' })
