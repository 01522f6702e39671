import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Tracer } from './tracer.ts'

/** A span for each request, part of the trace that its `traceparent` names. The query may hold a token and stays out. */
export function traceRequests(tracer: Tracer): MiddlewareHandler {
  return async (c, next) => {
    const { method, path } = c.req
    const span = tracer.begin(method, {
      attributes: { 'http.request.method': method, 'url.path': path },
      request: { traceparent: c.req.header('traceparent'), tracestate: c.req.header('tracestate') },
    })
    if (!span) return next()
    await span.run(next)
    const route = routePath(c)
    const { status } = c.res
    span.set({ 'http.route': route, 'http.response.status_code': status })
    span.rename(`${method} ${route}`)
    span.end(status >= 500 ? `answered ${status}` : undefined)
  }
}
