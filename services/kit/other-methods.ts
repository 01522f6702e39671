import { EyrieError } from '@eyrie/contract/errors'
import type { Env, Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'

/**
 * Answers 405 with `Allow` to the methods that a path does not have. To be called once its own are served. `whole`: the
 * path as who asks knows it, where `app` is only a part.
 */
export function refuseOtherMethods<E extends Env>(
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
export function refuseTheRest<E extends Env>(app: Hono<E>): void {
  const served = app.routes.filter(({ method }) => method !== METHOD_NAME_ALL)
  for (const [path, routes] of Map.groupBy(served, route => route.path))
    refuseOtherMethods(app, path, new Set(routes.map(({ method }) => method)))
  app.notFound(c => c.json(new EyrieError('id', `there is nothing at ${c.req.path}`).toBody(), 404))
}
