import { EyrieError } from '@eyrie/contract/errors'
import type { ErrorHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from './log.ts'

/** Value of the `Retry-After` header in responses with the code `unavailable`. */
const RETRY_AFTER_SECONDS = 2

export interface ErrorHandlerOptions {
  /**
   * Returns the error for the caller if the service expects `error`, such as a violated
   * database constraint.
   */
  translate?(error: Error): EyrieError | undefined
  /** Returns the response body. The default is `{code, reason, value?}`. */
  toBody?(error: EyrieError): object
}

/**
 * Creates the error handler of a Hono app. An `EyrieError` becomes the response. Any other error is
 * translated or logged; the response to a logged error has the code `internal` without details.
 */
export function createErrorHandler(
  log: Log,
  { translate = () => undefined, toBody = error => error.toBody() }: ErrorHandlerOptions = {},
): ErrorHandler {
  return (error, c) => {
    const expectedError = error instanceof EyrieError ? error : translate(error)
    const publicError = expectedError ?? logUnexpectedError(error, c.req.path, log)
    if (publicError.code === 'unavailable') c.header('Retry-After', String(RETRY_AFTER_SECONDS))
    return c.json(toBody(publicError), publicError.status as ContentfulStatusCode)
  }
}

/** Logs an error with its details and returns an error for the caller without them. */
function logUnexpectedError(error: Error, path: string, log: Log): EyrieError {
  log.error({ err: error, path }, 'failed to handle request')
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
    return new EyrieError(
      'unavailable',
      'the disk is full and nothing was changed: free some space',
    )
  }
  return new EyrieError('internal', 'the service failed: see its log')
}
