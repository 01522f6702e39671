import postgres, { type Options, type Sql } from 'postgres'
import type { ConnectionTarget } from './target.ts'
import { textArrays } from './text-array.ts'

type ConnectionOptions = Options<Record<string, never>>['connection']

/** What a server, a database or a user may have set otherwise, and what tables, answers and backups depend on. */
const session = {
  application_name: 'eyrie-management',
  standard_conforming_strings: true,
  search_path: 'public',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
}

/**
 * One connection, made when it is needed. Once it is lost it is over, and everything asked of it is refused:
 * postgres.js would make it anew below a transaction that is under way, whose queries would then be another's, or write
 * to a socket that is gone, which ends the process (its issues 1208 and 1216). `lost` is called at that moment.
 */
export function connect(target: ConnectionTarget, connection: ConnectionOptions = {}, lost = () => {}): Sql {
  const options = {
    max: 1,
    // Asked for what arrays there are, a connection that is lost meanwhile ends the process: nobody waits for the answer.
    fetch_types: false,
    types: { textArrays },
    onnotice: () => {},
    connect_timeout: 5,
    // For listening, which goes on by itself.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 2),
    connection: { ...session, ...connection },
    onclose() {
      lost()
      // A query that still waits would have it made anew, after its end, for nobody.
      Object.assign(sql.options, { socket: refuse })
      sql.end({ timeout: 0 })
    },
  }
  const sql: Sql =
    typeof target === 'string'
      ? postgres(target, { ...options, ...socketFolder(target) })
      : postgres({ ...options, ...target, host: target.path, password: '' })
  return sql
}

function refuse(): never {
  throw new Error('this connection is over')
}

/** A URL names the folder of a socket as libpq has it: `postgres://eyrie@%2Frun%2Fpostgresql/eyrie`. */
function socketFolder(url: string): { host?: string } {
  const host = decodeURIComponent(new URL(url).hostname)
  return host.startsWith('/') ? { host } : {}
}
