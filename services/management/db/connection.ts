import postgres, { type Options, type Sql } from 'postgres'
import { textArrayType } from './text-array.ts'

/** A URL, or the path of a socket whose server identifies the user by the operating system (peer authentication). */
export type ConnectionTarget = string | { path: string; user: string; database: string }

export type SessionParameters = Options<Record<string, never>>['connection']

/** Parameters that a server, database or role may override, and that tables, answers and backups depend on. */
const sessionParameters = {
  application_name: 'eyrie-management',
  standard_conforming_strings: true,
  search_path: 'public',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
}

/**
 * Returns a client of one connection, which is opened by its first query. After the connection is lost the client rejects
 * every query: postgres.js would either reconnect in the middle of a transaction, or write to the closed socket and crash
 * the process (its issues 1208 and 1216). `onLost` is called at that moment.
 */
export function connect(
  target: ConnectionTarget,
  parameters: SessionParameters = {},
  onLost = () => {},
): Sql {
  const options = {
    max: 1,
    // A connection that is lost while postgres.js queries the array types causes an unhandled rejection.
    fetch_types: false,
    types: { textArrayType },
    onnotice: () => {},
    connect_timeout: 5,
    // Only LISTEN connections are reopened.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 2),
    connection: { ...sessionParameters, ...parameters },
    onclose() {
      onLost()
      // A queued query would make postgres.js reconnect.
      Object.assign(sql.options, { socket: rejectReconnect })
      sql.end({ timeout: 0 })
    },
  }
  const sql: Sql =
    typeof target === 'string'
      ? postgres(target, { ...options, ...socketDirectory(target) })
      : postgres({ ...options, ...target, host: target.path, password: '' })
  return sql
}

function rejectReconnect(): never {
  throw new Error('the connection was lost')
}

/** libpq's notation for a socket directory: `postgres://eyrie@%2Frun%2Fpostgresql/eyrie`. */
function socketDirectory(url: string): { host?: string } {
  const host = decodeURIComponent(new URL(url).hostname)
  return host.startsWith('/') ? { host } : {}
}
