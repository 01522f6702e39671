import { EyrieError } from '@eyrie/contract'
import { createErrorHandler } from '@eyrie/kit/http-errors'
import type { Log } from '@eyrie/kit/log'
import type { ErrorHandler } from 'hono'

/** In revision A a conflict is told by what refers to the resource, without code and reason. */
export function answerConflictsBare(log: Log): ErrorHandler {
  const answer = createErrorHandler(log)
  return (error, c) =>
    error instanceof EyrieError && error.code === 'reference' ? c.json(error.value, 409) : answer(error, c)
}
