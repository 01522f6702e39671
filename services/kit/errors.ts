import { EyrieError } from '@eyrie/contract/errors'
import type { ErrorHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from './log.ts'

/** Seconds after which a caller who met `unavailable` may try again. */
const RETRY_AFTER_SECONDS = 2

/** Answers every error as `{code, reason, value?}`; what nobody foresaw is `internal`, explained in the log alone. */
export function answerErrors(log: Log): ErrorHandler {
  return (error, c) => {
    const known = error instanceof EyrieError ? error : unforeseen(error, c.req.path, log)
    if (known.code === 'unavailable') c.header('Retry-After', String(RETRY_AFTER_SECONDS))
    return c.json(known.toBody(), known.status as ContentfulStatusCode)
  }
}

function unforeseen(error: Error, path: string, log: Log): EyrieError {
  log.error({ err: error, path }, 'request failed')
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new EyrieError('unavailable', 'the disk is full, so nothing was changed: free some space')
  return new EyrieError('internal', 'the service failed; its log says why')
}
