import { EyrieError } from '@eyrie/contract/errors'
import type { Log } from '@eyrie/kit'
import { DrizzleQueryError } from 'drizzle-orm'
import postgres from 'postgres'

/** What the database has said of a query that failed, whoever has wrapped it. */
export function databaseError(error: unknown): postgres.PostgresError | undefined {
  for (let it: unknown = error; it instanceof Error; it = it.cause) {
    if (it instanceof postgres.PostgresError) return it
  }
  return undefined
}

/** Whether the same work may succeed when it is done once more: it met other work that came first. */
export function isConflict(error: unknown): boolean {
  const code = databaseError(error)?.code
  return code === '40001' || code === '40P01'
}

/** Codes of connections that could not be made or were lost: of the system, of postgres.js and of the server. */
const lost = [
  /^E(CONNREFUSED|CONNRESET|NOENT|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)$/,
  /^CONNECT(ION)?_/,
  /^(08...|57P0.|53300)$/,
]

/** Whether there was no database to ask. */
export function isUnreachable(error: unknown): boolean {
  for (let it: unknown = error; it instanceof Error; it = it.cause) {
    const { code } = it as NodeJS.ErrnoException
    if (code !== undefined && lost.some(pattern => pattern.test(code))) return true
  }
  return false
}

/** Whether work was refused because there is no database, which is told once for all work. */
export const isAway = (error: unknown): boolean =>
  error instanceof EyrieError && error.code === 'unavailable' && isUnreachable(error)

/** Writes an error into the log, unless there is no database, which its own log entry says. */
export const tellUnlessAway =
  (log: Log, message: string, about: object = {}) =>
  (error: unknown): void => {
    if (!isAway(error)) log.error({ ...about, err: error }, message)
  }

/** An error without what its query was given, which may be secret, and would come into the log with it. */
export const withoutParameters = (error: unknown): unknown =>
  error instanceof DrizzleQueryError
    ? new Error(`a query has failed: ${error.query}`, { cause: error.cause })
    : error

/** What was wrong in the first place. */
export function reasonOf(error: unknown): Error {
  const it = error as Error
  return it.cause instanceof Error && (it instanceof DrizzleQueryError || it instanceof EyrieError)
    ? reasonOf(it.cause)
    : it
}
