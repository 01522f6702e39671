import { EyrieError } from '@eyrie/contract/errors'
import type { Log } from '@eyrie/kit'
import { DrizzleQueryError } from 'drizzle-orm'
import postgres from 'postgres'
import { FULL_DISK_MESSAGE, FULL_DISK_REASON } from './server/full-disk.ts'

// Classifies and describes errors of database queries. Such an error is wrapped several times:
// drizzle wraps the error of postgres.js, and `Database` wraps that of drizzle. The functions below
// therefore search its causes.

/** The SQLSTATE codes that need a name (Postgres manual, appendix A). */
const SQLSTATE = {
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  diskFull: '53100',
  ioError: '58030',
  lockNotAvailable: '55P03',
}
/** Error codes of transactions that failed because of a concurrent one. */
const CONFLICT_CODES = [SQLSTATE.serializationFailure, SQLSTATE.deadlockDetected]
/** Error codes of a server that cannot write. */
const STORAGE_CODES = [SQLSTATE.diskFull, SQLSTATE.ioError]
/** Codes of a full disk: of Postgres and of the operating system. */
const DISK_FULL_CODES = [SQLSTATE.diskFull, 'ENOSPC']
/** Error codes of refused and lost connections. */
const UNREACHABLE_CODES = [
  // Operating system.
  /^E(CONNREFUSED|CONNRESET|NOENT|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)$/,
  // postgres.js.
  /^CONNECT(ION)?_/,
  // SQLSTATE: connection exception, operator intervention, too many connections.
  /^(08...|57P0.|53300)$/,
]

/**
 * Matches the error codes of values that cannot be stored: data exception, not null violation,
 * check violation, program limit exceeded. Other constraints depend on what else is stored.
 */
const UNSTORABLE_CODE = /^(22...|23502|23514|54...)$/

/** Returns an error followed by its causes, from the outermost to the innermost. */
function listCauses(error: unknown): Error[] {
  return error instanceof Error ? [error, ...listCauses(error.cause)] : []
}

/**
 * Returns the error that the Postgres server reported, or undefined if the error has another cause.
 */
export const findPostgresError = (error: unknown): postgres.PostgresError | undefined =>
  listCauses(error).find(cause => cause instanceof postgres.PostgresError)

/**
 * Returns whether a transaction failed because of a concurrent one, so that a retry may succeed.
 */
export function isConflict(error: unknown): boolean {
  const code = findPostgresError(error)?.code
  return code !== undefined && CONFLICT_CODES.includes(code)
}

/** Returns whether a query failed because it waited for a lock longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean =>
  findPostgresError(error)?.code === SQLSTATE.lockNotAvailable

/** Returns whether a query failed because the database is unreachable. */
export function isUnreachable(error: unknown): boolean {
  return listCauses(error).some(({ code = '' }: NodeJS.ErrnoException) =>
    UNREACHABLE_CODES.some(pattern => pattern.test(code)),
  )
}

/**
 * Returns whether a query failed because the server cannot write to its disk. Queries that only
 * read may still succeed.
 */
export function isStorageFailure(error: unknown): boolean {
  const code = findPostgresError(error)?.code
  return code !== undefined && STORAGE_CODES.includes(code)
}

/**
 * Returns whether storing failed because of the values to store, so that it fails again with the
 * same values: Postgres rejects them, or they do not have the shape that the code expects.
 */
export function isUnstorable(error: unknown): boolean {
  // The error of a query is always wrapped: this one is of the code that prepares the query.
  if (error instanceof TypeError || error instanceof RangeError) return true
  const code = findPostgresError(error)?.code
  return code !== undefined && UNSTORABLE_CODE.test(code)
}

/** Returns whether an error was caused by a full disk. */
export function isDiskFull(error: unknown): boolean {
  return listCauses(error).some(
    ({ message, code = '' }: NodeJS.ErrnoException) =>
      DISK_FULL_CODES.includes(code) || message.includes(FULL_DISK_MESSAGE),
  )
}

/** An operation failed because the database is unreachable or cannot store. */
export class DatabaseUnavailableError extends EyrieError {
  constructor(reason: string, cause?: Error) {
    super('unavailable', reason, { cause })
  }
}

/**
 * Returns an error handler that logs errors, except those of an unavailable database, which
 * `DatabaseSupervisor` logs once.
 */
export const logUnlessUnavailable =
  (log: Log, message: string, fields: object = {}) =>
  (error: unknown): void => {
    if (!(error instanceof DatabaseUnavailableError)) log.error({ ...fields, err: error }, message)
  }

/** A query has failed for an unexpected reason. */
class QueryError extends Error {
  /** SQLSTATE, or the code of the operating system. */
  readonly code: string | undefined
  readonly table: string | undefined

  constructor(cause: Error | undefined) {
    super('query failed', { cause })
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code
    this.table = findPostgresError(cause)?.table_name
  }
}

/**
 * Removes the statement and its parameters from an error that may be logged: statements are long,
 * and parameters may be secret.
 */
export const withoutStatement = (error: unknown): unknown =>
  error instanceof DrizzleQueryError ? new QueryError(error.cause) : error

/** Returns the error inside the wrappers of drizzle and `EyrieError`. */
export function findCause(error: unknown): Error {
  let original = error as Error
  while (isWrapper(original) && original.cause instanceof Error) original = original.cause
  return original
}

const isWrapper = (error: Error) =>
  error instanceof DrizzleQueryError || error instanceof EyrieError

/**
 * Describes a database error in one line. For an external database, which has a `url`, the
 * line includes a remedy.
 */
export function describeDatabaseError(error: unknown, url: string | undefined): string {
  const cause = findCause(error)
  const isExternal = url !== undefined
  if (isDiskFull(cause)) return isExternal ? FULL_SERVER_DISK_REASON : FULL_DISK_REASON
  const remedy = isExternal ? findRemedy(cause) : undefined
  return remedy ? `${cause.message}: ${remedy}` : cause.message
}

const FULL_SERVER_DISK_REASON =
  'the disk of the database server is full: delete files that are not needed there, or enlarge the disk'

/** Instructions for the owner of an external database, by SQLSTATE. */
const REMEDIES: Record<string, string> = {
  28000: 'correct DATABASE_URL, or allow connections of that user from this host (pg_hba.conf)',
  '28P01': 'correct the user and the password in DATABASE_URL',
  '3D000': 'create it (createdb), or correct DATABASE_URL',
  42501:
    'the user in DATABASE_URL must own the database and everything in it (reassign owned by … to …)',
  53300: 'raise max_connections of the server: Eyrie opens up to fifteen connections',
}

function findRemedy(cause: NodeJS.ErrnoException): string | undefined {
  const remedy = REMEDIES[cause.code ?? '']
  if (remedy) return remedy
  if (isUnreachable(cause)) return 'check that Postgres is running and that DATABASE_URL is correct'
  return undefined
}
