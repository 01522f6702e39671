import { EyrieError } from '@eyrie/contract/errors'
import type { Env, ErrorHandler, Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from './log.ts'

/** Seconds after which a caller who met `unavailable` may try again. */
const RETRY_AFTER_SECONDS = 2

/** Answers every error as `{code, reason, value?}`; what nobody foresaw is `internal`, explained in the log alone. */
export function createErrorHandler(log: Log): ErrorHandler {
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

/**
 * Answers 405 with `Allow` to the methods that a path does not have. To be called once its own are served. `whole`: the
 * path as who asks knows it, where `app` is only a part.
 */
export function handleMethodNotAllowed<E extends Env>(
  app: Hono<E>,
  path: string,
  methods: Iterable<string>,
  whole = path,
): void {
  const allow = [...methods]
    .map(method => method.toUpperCase())
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : method))
    .join(', ')
  app.all(path.replaceAll(/{(\w+)}/g, ':$1'), c => {
    c.header('Allow', allow)
    throw new EyrieError('method', `${whole} has no ${c.req.method}: it has ${allow}`)
  })
}

/** The same on every path that `app` serves, and 404 on all others. To be called once all else is served. */
export function handleUnmatchedRequests<E extends Env>(app: Hono<E>): void {
  const served = app.routes.filter(({ method }) => method !== METHOD_NAME_ALL)
  for (const [path, routes] of Map.groupBy(served, route => route.path))
    handleMethodNotAllowed(app, path, new Set(routes.map(({ method }) => method)))
  app.notFound(c => c.json(new EyrieError('id', `there is nothing at ${c.req.path}`).toBody(), 404))
}
