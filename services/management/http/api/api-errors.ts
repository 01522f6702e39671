import { EyrieError } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { ErrorHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type postgres from 'postgres'
import { constraintColumns } from '../../db/constraint-columns.ts'
import { findPostgresError } from '../../db/database-errors.ts'

/** Sent as `Retry-After` with `unavailable`. */
const RETRY_AFTER_SECONDS = 2

/** Answers every error in the response envelope. Unexpected errors are logged and answered with 500 without details. */
export function answerInEnvelope(log: Log): ErrorHandler {
  return (error, context) => {
    const answered =
      error instanceof EyrieError
        ? error
        : (fromDatabaseError(error) ?? toInternalError(error, context.req.path, log))
    if (answered.code === 'unavailable') context.header('Retry-After', String(RETRY_AFTER_SECONDS))
    if (answered.code === 'auth') context.header('WWW-Authenticate', 'Bearer')
    return context.json(toErrorBody(answered), answered.status as ContentfulStatusCode)
  }
}

/** An error in the response envelope. */
export const toErrorBody = ({ message, value, status }: EyrieError) => ({
  message,
  response: value ?? null,
  response_code: status,
})

function toInternalError(error: Error, path: string, log: Log): EyrieError {
  log.error({ err: error, path }, 'request failed')
  return new EyrieError('internal', 'management failed: see its log')
}

/** Translates a violated constraint into an error for the caller. Returns undefined for any other error. */
function fromDatabaseError(error: unknown): EyrieError | undefined {
  const cause = findPostgresError(error)
  return cause && databaseErrors[cause.code]?.(cause)
}

/** By SQLSTATE (Postgres, appendix A). */
const databaseErrors: Record<string, (cause: postgres.PostgresError) => EyrieError> = {
  // A violated foreign key: the record in use is about to be deleted, or the referenced record does not exist.
  23503: cause =>
    cause.message.startsWith('update or delete')
      ? new EyrieError(
          'reference',
          `${withArticle(toRecordName(cause))} still refers to it: delete or change that first`,
          {
            cause,
          },
        )
      : toFieldError('id', cause, 'there is no such record here'),
  23505: cause => toFieldError('conflict', cause, `another ${toRecordName(cause)} has this already`),
  23502: cause => toFieldError('syntax', cause, 'is required'),
  23514: cause => toFieldError('syntax', cause, 'this value is not allowed'),
  42501: cause => new EyrieError('rights', 'you do not have the rights for this change', { cause }),
}

/** Join tables that callers know as a part of another record. */
const recordNames = new Map([['engine_site', 'engine']])

const toRecordName = ({ table_name = 'record' }: postgres.PostgresError) =>
  (recordNames.get(table_name) ?? table_name).replaceAll('_', ' ')

/** Table names that start with u, such as `user`, take the article `a`. */
const withArticle = (name: string) => `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`

function toFieldError(
  code: 'id' | 'conflict' | 'syntax',
  cause: postgres.PostgresError,
  reason: string,
): EyrieError {
  const { column_name: column, constraint_name: constraint = 'body' } = cause
  const columns = column ? [column] : (constraintColumns.get(constraint) ?? [constraint])
  const fields = columns.map(field => ({ field, reason }))
  return new EyrieError(code, `${columns.join(', ')}: ${reason}`, { value: { fields }, cause })
}
