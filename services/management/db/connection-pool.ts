import { E_CANCELED, Semaphore } from 'async-mutex'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'

/** A connection that belongs to one task at a time. */
export interface Connection {
  sql: Sql
  db: PostgresJsDatabase
}

export interface ConnectionPool {
  /** Runs a task with a connection of its own; waits until one is free. */
  use<T>(task: (connection: Connection) => Promise<T>): Promise<T>
  /** Closes all connections, and cuts connections that are still in use after a second. */
  close(): Promise<void>
}

/**
 * A pool of clients with one connection each, where postgres.js would offer one client with several: only then can a lost
 * connection be discarded together with everything queued on it (see `connect`). `open` opens a connection and calls its
 * argument when that is lost.
 */
export function createConnectionPool(size: number, open: (onLost: () => void) => Sql): ConnectionPool {
  const permits = new Semaphore(size)
  const connections = new Set<Connection>()
  const idle: Connection[] = []
  let isClosed = false

  function openConnection(): Connection {
    const sql = open(() => {
      connections.delete(connection)
      const index = idle.indexOf(connection)
      if (index >= 0) idle.splice(index, 1)
    })
    const connection = { sql, db: drizzle(sql) }
    connections.add(connection)
    return connection
  }

  return {
    use(task) {
      return permits
        .runExclusive(async () => {
          if (isClosed) throw E_CANCELED
          const connection = idle.pop() ?? openConnection()
          try {
            return await task(connection)
          } finally {
            if (connections.has(connection)) idle.push(connection)
          }
        })
        .catch(error => {
          throw error === E_CANCELED ? poolClosed() : error
        })
    },
    async close() {
      isClosed = true
      permits.cancel()
      await Promise.all([...connections].map(({ sql }) => sql.end({ timeout: 1 })))
    },
  }
}

const poolClosed = () =>
  Object.assign(new Error('the connection pool is closed'), { code: 'CONNECTION_ENDED' })
