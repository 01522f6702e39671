import postgres, { type Options, type Sql } from 'postgres'
import { textArrayType } from './text-array.ts'

/**
 * The database to connect to: a URL, or the path of a Unix socket. The server at the socket uses
 * peer authentication, which needs no password.
 */
export type ConnectionTarget = string | { path: string; user: string; database: string }

/** Postgres parameters that are set when a connection is opened, in the type of postgres.js. */
export type SessionParameters = Options<Record<string, never>>['connection']

const CONNECT_TIMEOUT_S = 5
/** Delays before a lost LISTEN connection is reopened. Each delay is twice the previous one. */
const MIN_LISTEN_BACKOFF_S = 0.05
const MAX_LISTEN_BACKOFF_S = 2
/** The `application_name` of all connections. */
export const CLIENT_NAME = 'eyrie-management'

/**
 * Parameters that queries and backups rely on. They override the defaults of the server, the
 * database and the role.
 */
const SESSION_PARAMETERS = {
  application_name: CLIENT_NAME,
  standard_conforming_strings: true,
  search_path: 'public',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  // If a client machine disappears, the server notices it within seconds, and releases the locks of
  // its transactions.
  tcp_keepalives_idle: 3,
  tcp_keepalives_interval: 1,
  tcp_keepalives_count: 3,
}

/**
 * Returns a client of one connection, which its first query opens. When the connection is lost,
 * `onLost` is called, and the client rejects all further queries. By default, postgres.js would
 * reconnect in the middle of a transaction, or write to the closed socket and crash the process
 * (porsager/postgres issues 1208 and 1216).
 */
export function connect(
  target: ConnectionTarget,
  parameters: SessionParameters = {},
  onLost = () => {},
): Sql {
  const options = {
    max: 1,
    // postgres.js would query the array types, which causes an unhandled rejection if the
    // connection is lost meanwhile.
    fetch_types: false,
    types: { textArrayType },
    // Notices, such as those of `create table if not exists`, are of no interest.
    onnotice: () => {},
    connect_timeout: CONNECT_TIMEOUT_S,
    // Applies only to the additional connection that postgres.js opens for LISTEN. It is
    // reopened when it is lost.
    backoff: computeListenBackoffSeconds,
    connection: { ...SESSION_PARAMETERS, ...parameters },
    onclose() {
      onLost()
      // postgres.js opens a new socket for queries that are still queued. It calls the option
      // `socket` to do so, which its types do not list: make that fail.
      Object.assign(sql.options, { socket: throwConnectionLost })
      sql.end({ timeout: 0 })
    },
  }

  const sql: Sql =
    typeof target === 'string'
      ? postgres(target, { ...options, ...parseSocketDirectory(target) })
      : postgres({ ...options, ...target, host: target.path })
  return sql
}

function computeListenBackoffSeconds(attempt: number): number {
  return Math.min(MIN_LISTEN_BACKOFF_S * 2 ** attempt, MAX_LISTEN_BACKOFF_S)
}

/** Takes the place of the function that opens a socket. */
function throwConnectionLost(): never {
  throw new Error('the connection was lost')
}

/**
 * Supports libpq's URLs with a socket directory as host:
 * `postgres://eyrie@%2Frun%2Fpostgresql/eyrie`.
 */
function parseSocketDirectory(url: string): { host?: string } {
  const host = decodeURIComponent(new URL(url).hostname)
  return host.startsWith('/') ? { host } : {}
}
