import { EyrieError } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { ErrorHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type postgres from 'postgres'
import { constraintColumns } from '../../db/constraint-columns.ts'
import { findPostgresError } from '../../db/database-errors.ts'

/** Seconds after which a caller who met `unavailable` may try again. */
const RETRY_AFTER_SECONDS = 2

/** Answers every error in the envelope; what nobody foresaw is a 500, explained in the log alone. */
export function answerInEnvelope(log: Log): ErrorHandler {
  return (error, context) => {
    const known =
      error instanceof EyrieError ? error : (refusalOf(error) ?? unforeseen(error, context.req.path, log))
    if (known.code === 'unavailable') context.header('Retry-After', String(RETRY_AFTER_SECONDS))
    if (known.code === 'auth') context.header('WWW-Authenticate', 'Bearer')
    return context.json(inEnvelope(known), known.status as ContentfulStatusCode)
  }
}

/** The body of an error's answer. */
export const inEnvelope = ({ message, value, status }: EyrieError) => ({
  message,
  response: value ?? null,
  response_code: status,
})

function unforeseen(error: Error, path: string, log: Log): EyrieError {
  log.error({ err: error, path }, 'request failed')
  return new EyrieError('internal', 'management failed; its log says why')
}

/** What a database error means to the caller; undefined where it is a fault of ours. */
function refusalOf(error: unknown): EyrieError | undefined {
  const cause = findPostgresError(error)
  return cause && refusals[cause.code]?.(cause)
}

/** By SQLSTATE (Postgres, appendix A). */
const refusals: Record<string, (cause: postgres.PostgresError) => EyrieError> = {
  // A foreign key does not hold: what it names is missing, or is about to go while others name it.
  23503: cause =>
    cause.message.startsWith('update or delete')
      ? new EyrieError('reference', `${aReferrer(cause)} still refers to it: delete or change that first`, {
          cause,
        })
      : about('id', cause, 'there is no such record here'),
  23505: cause => about('conflict', cause, `another ${nameOf(cause)} has this already`),
  23502: cause => about('syntax', cause, 'is required'),
  23514: cause => about('syntax', cause, 'this value is not possible'),
  42501: cause => new EyrieError('rights', 'your rights do not reach what this would change', { cause }),
}

/** Tables that say of a record what is a field of another. */
const owners = new Map([['engine_site', 'engine']])

const nameOf = ({ table_name = 'record' }: postgres.PostgresError) =>
  (owners.get(table_name) ?? table_name).replaceAll('_', ' ')

/** Of the names of tables, those with a u at their head begin as `you` does. */
function aReferrer(cause: postgres.PostgresError): string {
  const name = nameOf(cause)
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`
}

function about(
  code: 'id' | 'conflict' | 'syntax',
  cause: postgres.PostgresError,
  reason: string,
): EyrieError {
  const { column_name: column, constraint_name: constraint = 'body' } = cause
  const names = column ? [column] : (constraintColumns.get(constraint) ?? [constraint])
  const fields = names.map(field => ({ field, reason }))
  return new EyrieError(code, `${names.join(', ')}: ${reason}`, { value: { fields }, cause })
}
