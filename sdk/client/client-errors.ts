import { ERROR_TABLE, type ErrorCode, EyrieError, errorBody } from '@eyrie/contract/errors'
import { tryParseJson } from '@eyrie/contract/parse'

/** Errors of the client: of responses, and of connections that fail. */

/**
 * Converts an error response to an error. If the body is empty, the status determines the error.
 */
export function toResponseError(url: string, status: number, body: string): EyrieError {
  const parsed = errorBody.safeParse(tryParseJson(body))
  if (parsed.success) {
    const { code, reason, value } = parsed.data
    return new EyrieError(code, reason, { status, value })
  }

  const code = body === '' ? findCode(status) : undefined
  if (code) {
    const { meaning, remedy } = ERROR_TABLE[code]
    return new EyrieError(code, `${meaning}: ${remedy}`)
  }

  // No service of Eyrie answers like this.
  return new EyrieError('internal', `${url} answered ${status}: is it the address of an engine?`, {
    status,
  })
}

/** Returns the first error code with this default status. */
function findCode(status: number): ErrorCode | undefined {
  const codes = Object.keys(ERROR_TABLE) as ErrorCode[]
  return codes.find(code => ERROR_TABLE[code].status === status)
}

/** Creates the error of a connection that failed or was lost. */
export function toConnectionError(url: string, cause: Error): EyrieError {
  return new EyrieError(
    'unavailable',
    `the engine at ${url} cannot be reached: ${findRootMessage(cause)}`,
    {
      cause,
    },
  )
}

/** Returns the message of the root cause, for users. */
export function findRootMessage(error: Error): string {
  // `fetch` nests the root cause in causes, and in an `AggregateError` if the host
  // has several addresses.
  const cause = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined)
  if (cause instanceof Error) return findRootMessage(cause)
  return error.name === 'TimeoutError' ? 'it has not answered in time' : error.message
}
