import { EyrieError } from '@eyrie/contract/errors'
import type { Env, ErrorHandler, Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from './log.ts'

/** Value of `Retry-After` in responses with `unavailable`. */
const RETRY_AFTER_SECONDS = 2

/**
 * Creates Hono's error handler. Errors are returned as `{code, reason, value?}`. Details of unexpected errors are only
 * logged; the response is `internal`.
 */
export function createErrorHandler(log: Log): ErrorHandler {
  return (error, c) => {
    const known = error instanceof EyrieError ? error : toPublicError(error, c.req.path, log)
    if (known.code === 'unavailable') c.header('Retry-After', String(RETRY_AFTER_SECONDS))
    return c.json(known.toBody(), known.status as ContentfulStatusCode)
  }
}

function toPublicError(error: Error, path: string, log: Log): EyrieError {
  log.error({ err: error, path }, 'failed to handle request')
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new EyrieError('unavailable', 'the disk is full and nothing was changed: free some space')
  return new EyrieError('internal', 'the service failed: see its log')
}

/**
 * Answers requests with other methods with 405 and `Allow`. Call it after the routes of the path are registered.
 * `publicPath` is the path in the message, if `app` is mounted below a base path.
 */
export function handleMethodNotAllowed<E extends Env>(
  app: Hono<E>,
  path: string,
  methods: Iterable<string>,
  publicPath = path,
): void {
  const allow = [...methods]
    .map(method => method.toUpperCase())
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : method))
    .join(', ')
  app.all(path.replaceAll(/{(\w+)}/g, ':$1'), c => {
    c.header('Allow', allow)
    throw new EyrieError('method', `${publicPath} has no ${c.req.method}: use ${allow}`)
  })
}

/** Answers 405 on all paths of the app and 404 on all others. Call it after all routes are registered. */
export function handleUnmatchedRequests<E extends Env>(app: Hono<E>): void {
  const routes = app.routes.filter(({ method }) => method !== METHOD_NAME_ALL)
  for (const [path, routesOfPath] of Map.groupBy(routes, route => route.path))
    handleMethodNotAllowed(app, path, new Set(routesOfPath.map(({ method }) => method)))
  app.notFound(c => c.json(new EyrieError('id', `there is nothing at ${c.req.path}`).toBody(), 404))
}
