import { EyrieError } from '@eyrie/contract'
import { answerErrors } from '@eyrie/kit/errors'
import type { Log } from '@eyrie/kit/log'
import type { ErrorHandler } from 'hono'

/** In revision A a conflict is told by what refers to the resource, without code and reason. */
export function answerConflictsBare(log: Log): ErrorHandler {
  const answer = answerErrors(log)
  return (error, c) =>
    error instanceof EyrieError && error.code === 'reference' ? c.json(error.value, 409) : answer(error, c)
}
