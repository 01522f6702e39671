import { EyrieError } from '@eyrie/contract/errors'
import type { Log } from '@eyrie/kit'
import { DrizzleQueryError } from 'drizzle-orm'
import postgres from 'postgres'

/** Returns the error that Postgres answered a query with, however it is wrapped. */
export function findPostgresError(error: unknown): postgres.PostgresError | undefined {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if (current instanceof postgres.PostgresError) return current
  }
  return undefined
}

/** Whether the transaction lost against a concurrent one (serialization failure or deadlock), so that a retry may succeed. */
export function isConflict(error: unknown): boolean {
  const code = findPostgresError(error)?.code
  return code === '40001' || code === '40P01'
}

/** Codes of refused and lost connections: of the operating system, of postgres.js and of the server. */
const unreachableCodes = [
  /^E(CONNREFUSED|CONNRESET|NOENT|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)$/,
  /^CONNECT(ION)?_/,
  /^(08...|57P0.|53300)$/,
]

/** Whether a query failed because the database could not be reached. */
export function isUnreachable(error: unknown): boolean {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException
    if (code !== undefined && unreachableCodes.some(pattern => pattern.test(code))) return true
  }
  return false
}

/** Whether an operation was rejected as `unavailable` because the database is unreachable. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  error instanceof EyrieError && error.code === 'unavailable' && isUnreachable(error)

/** Returns an error handler that logs, except while the database is unreachable: that is logged once, in one place. */
export const logUnlessUnavailable =
  (log: Log, message: string, fields: object = {}) =>
  (error: unknown): void => {
    if (!isDatabaseUnavailable(error)) log.error({ ...fields, err: error }, message)
  }

/** Removes the parameters of a failed query from its error: they may be secret, and errors are logged. */
export const withoutParameters = (error: unknown): unknown =>
  error instanceof DrizzleQueryError
    ? new Error(`query failed: ${error.query}`, { cause: error.cause })
    : error

/** Returns the innermost error below the wrappers of drizzle and of `EyrieError`. */
export function findCause(error: unknown): Error {
  const outer = error as Error
  return outer.cause instanceof Error && (outer instanceof DrizzleQueryError || outer instanceof EyrieError)
    ? findCause(outer.cause)
    : outer
}

/** What the owner of an external database can do, by SQLSTATE (Postgres manual, appendix A). */
const remedies: Record<string, string> = {
  28000: 'correct DATABASE_URL, or allow connections of that user from this host (pg_hba.conf)',
  '28P01': 'correct the user and the password in DATABASE_URL',
  '3D000': 'create it (createdb), or correct DATABASE_URL',
  42501: 'the user in DATABASE_URL must own the database and everything in it (reassign owned by … to …)',
  53300: 'raise max_connections of the server: Eyrie opens up to twelve connections',
}

/** Describes a database failure in one line. `url` is that of an external database, for which it adds what to do. */
export function describeDatabaseError(error: unknown, url: string | undefined): string {
  const cause = findCause(error)
  if (url === undefined) return cause.message
  const remedy =
    remedies[(cause as NodeJS.ErrnoException).code ?? ''] ??
    (isUnreachable(error) ? 'check that Postgres is running and that DATABASE_URL is correct' : undefined)
  return remedy ? `${cause.message}: ${remedy}` : cause.message
}
