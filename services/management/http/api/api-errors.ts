import { EyrieError } from '@eyrie/contract'
import { createErrorHandler, type Log } from '@eyrie/kit'
import type { ErrorHandler } from 'hono'
import type postgres from 'postgres'
import { CONSTRAINT_COLUMNS } from '../../db/constraint-columns.ts'
import { findPostgresError } from '../../db/database-errors.ts'

const NOT_PERMITTED =
  'your role and your assignments do not include this change: ask an administrator'
/** The names of records that differ from the names of their tables. */
const RECORD_NAMES = new Map([['engine_site', 'engine']])

/** Creates the error handler of the management API, which answers in the response envelope. */
export function createApiErrorHandler(log: Log): ErrorHandler {
  const answerError = createErrorHandler(log, { translate: fromDatabaseError, toBody: toErrorBody })
  return (error, context) => {
    if (error instanceof EyrieError && error.code === 'auth') {
      context.header('WWW-Authenticate', 'Bearer')
    }
    return answerError(error, context)
  }
}

/** An error in the response envelope. */
export const toErrorBody = ({ message, value, status }: EyrieError) => ({
  message,
  response: value ?? null,
  response_code: status,
})

/**
 * Translates a violated constraint or policy into an error for the caller. Returns undefined
 * for any other error.
 */
function fromDatabaseError(error: unknown): EyrieError | undefined {
  const cause = findPostgresError(error)
  return cause && DATABASE_ERRORS[cause.code]?.(cause)
}

/** Translations of Postgres errors by SQLSTATE (Postgres, appendix A). */
const DATABASE_ERRORS: Record<string, (cause: postgres.PostgresError) => EyrieError> = {
  // not_null_violation
  23502: cause => toFieldError('syntax', cause, 'is required'),
  // foreign_key_violation
  23503: toReferenceError,
  // unique_violation
  23505: cause =>
    toFieldError('conflict', cause, `another ${toRecordName(cause)} has this already`),
  // check_violation
  23514: cause => toFieldError('syntax', cause, 'this value is not allowed'),
  // insufficient_privilege
  42501: cause => new EyrieError('rights', NOT_PERMITTED, { cause }),
}

/**
 * Translates a violated foreign key: a record to delete is still in use, or a record to write
 * refers to one that does not exist.
 */
function toReferenceError(cause: postgres.PostgresError): EyrieError {
  // Postgres distinguishes the two cases only in the English text of the message.
  const isInUse = cause.message.startsWith('update or delete')
  if (!isInUse) return toFieldError('id', cause, 'there is no such record here')

  const referringRecord = withArticle(toRecordName(cause))
  return new EyrieError(
    'reference',
    `${referringRecord} still refers to it: delete or change that first`,
    { cause },
  )
}

const toRecordName = ({ table_name = 'record' }: postgres.PostgresError) =>
  (RECORD_NAMES.get(table_name) ?? table_name).replaceAll('_', ' ')

/** Adds the article. Names that start with u take `a`, such as `a user`. */
const withArticle = (name: string) => `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`

/** Creates an error about the fields that violate a constraint. */
function toFieldError(
  code: 'id' | 'conflict' | 'syntax',
  cause: postgres.PostgresError,
  reason: string,
): EyrieError {
  const names = listFieldNames(cause)
  const fields = names.map(field => ({ field, reason }))
  return new EyrieError(code, `${names.join(', ')}: ${reason}`, { value: { fields }, cause })
}

/**
 * Returns the names of the fields that violate a constraint, which are the names of its columns. If
 * the columns are unknown, returns the name of the constraint.
 */
function listFieldNames({
  column_name: column,
  constraint_name: constraint,
}: postgres.PostgresError): readonly string[] {
  if (column) return [column]
  if (!constraint) return ['body']
  return CONSTRAINT_COLUMNS.get(constraint) ?? [constraint]
}
