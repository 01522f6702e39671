import { EyrieError } from '@eyrie/contract/errors'
import type { Env, Handler, Hono, MiddlewareHandler } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'

/** One method of a path with its handlers. */
export interface Endpoint {
  method: string
  /** Parameters are in braces, as in OpenAPI: `/sources/{id}`. */
  path: string
  handlers: (Handler | MiddlewareHandler)[]
}

/**
 * Registers endpoints on an app. Requests with other methods on the same paths are answered with
 * 405. `basePath` is prepended to the path in the error message.
 */
export function mountRoutes(app: Hono, endpoints: readonly Endpoint[], basePath = ''): void {
  const endpointsByPath = Map.groupBy(endpoints, ({ path }) => path)
  for (const [path, endpointsOfPath] of [...endpointsByPath].sort(compareFixedPathsFirst)) {
    // Hono marks parameters with a colon: `/sources/:id`.
    const pattern = path.replaceAll(/{(\w+)}/g, ':$1')
    for (const { method, handlers } of endpointsOfPath) app.on(method, [pattern], ...handlers)

    const methods = endpointsOfPath.map(({ method }) => method)
    app.all(pattern, rejectMethod(basePath + path, methods))
  }
}

/**
 * Hono matches routes in order, and `/pipelines/elements` must be matched before `/pipelines/{id}`.
 */
function compareFixedPathsFirst([a]: [string, unknown], [b]: [string, unknown]): number {
  return Number(a.includes('{')) - Number(b.includes('{'))
}

/**
 * Answers requests that no route matches: 405 if the path has routes with other methods, otherwise
 * 404. Call it after all routes are registered.
 */
export function handleUnmatchedRequests<E extends Env>(app: Hono<E>): void {
  const routes = app.routes.filter(({ method }) => method !== METHOD_NAME_ALL)
  for (const [path, routesOfPath] of Map.groupBy(routes, route => route.path)) {
    const methods = new Set(routesOfPath.map(({ method }) => method))
    app.all(path, rejectMethod(path, methods))
  }
  app.notFound(c => c.json(new EyrieError('id', `there is nothing at ${c.req.path}`).toBody(), 404))
}

/** Creates a handler that answers 405 with the methods of the path in `Allow`. */
function rejectMethod(path: string, methods: Iterable<string>): Handler {
  const upperCaseMethods = Array.from(methods, method => method.toUpperCase())
  // Hono answers HEAD wherever there is a route for GET.
  const allow = upperCaseMethods
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : method))
    .join(', ')
  return c => {
    c.header('Allow', allow)
    throw new EyrieError('method', `${path} has no ${c.req.method}: use ${allow}`)
  }
}
