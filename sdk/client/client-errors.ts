import { type ErrorCode, EyrieError, errorBody, errorTable } from '@eyrie/contract/errors'
import { tryParseJson } from '@eyrie/contract/parse'

/** Converts an error response. Without a body, the error is derived from the status. */
export function toResponseError(url: string, status: number, body: string): EyrieError {
  const parsed = errorBody.safeParse(tryParseJson(body))
  if (parsed.success)
    return new EyrieError(parsed.data.code, parsed.data.reason, { status, value: parsed.data.value })
  const known = body === '' && rows.find(([, row]) => row.status === status)
  if (known) return new EyrieError(known[0], `${known[1].meaning}: ${known[1].remedy}`)
  return new EyrieError('internal', `${url} answered ${status}: is it the address of an engine?`, { status })
}

const rows = Object.entries(errorTable) as [ErrorCode, (typeof errorTable)[ErrorCode]][]

/** The error of a connection that failed or was lost. */
export function toConnectionError(url: string, cause: Error): EyrieError {
  return new EyrieError('unavailable', `the engine at ${url} cannot be reached: ${findRootMessage(cause)}`, {
    cause,
  })
}

/** The message of the root cause. `fetch` nests it in causes, and in an `AggregateError` for hosts with several addresses. */
export function findRootMessage(error: Error): string {
  if (error.cause instanceof Error) return findRootMessage(error.cause)
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return findRootMessage(error.errors[0])
  return error.name === 'TimeoutError' ? 'it has not answered in time' : error.message
}
