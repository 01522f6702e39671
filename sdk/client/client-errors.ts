import { type ErrorCode, EyrieError, errorBody, errorTable } from '@eyrie/contract/errors'
import { tryParseJson } from '@eyrie/contract/parse'

/** The error of an answer that is no success: in the engine's own words, or by its status where it has no body. */
export function toResponseError(url: string, status: number, body: string): EyrieError {
  const parsed = errorBody.safeParse(tryParseJson(body))
  if (parsed.success)
    return new EyrieError(parsed.data.code, parsed.data.reason, { status, value: parsed.data.value })
  const known = body === '' && rows.find(([, row]) => row.status === status)
  if (known) return new EyrieError(known[0], `${known[1].meaning}: ${known[1].remedy}`)
  return new EyrieError('internal', `${url} answered ${status}: is it the address of an engine?`, { status })
}

const rows = Object.entries(errorTable) as [ErrorCode, (typeof errorTable)[ErrorCode]][]

/** The error of a connection that could not be made, or broke. */
export function toConnectionError(url: string, cause: Error): EyrieError {
  return new EyrieError('unavailable', `the engine at ${url} cannot be reached: ${findRootMessage(cause)}`, {
    cause,
  })
}

/** `fetch` hides the reason in causes, and a name with several addresses in a list of errors without a message. */
export function findRootMessage(error: Error): string {
  if (error.cause instanceof Error) return findRootMessage(error.cause)
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return findRootMessage(error.errors[0])
  return error.name === 'TimeoutError' ? 'it has not answered in time' : error.message
}
