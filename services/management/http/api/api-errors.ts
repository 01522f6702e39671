import { EyrieError } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { ErrorHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { refusalOf } from './refusal.ts'

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
