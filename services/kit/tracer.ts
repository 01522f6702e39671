import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A timed operation of a trace. */
export interface Span {
  /** Starts a child span. */
  child(name: string, attributes?: SpanAttributes): Span
  /** Runs `work`; spans started in it, also asynchronously, become children of this span. */
  run<T>(work: () => T): T
  setAttributes(attributes: SpanAttributes): void
  rename(name: string): void
  /** Ends the span, with an error status if there is a `failure`. */
  end(failure?: string): void
}

export interface SpanOptions {
  attributes?: SpanAttributes
  /** Start time in ms of the monotonic clock (`performance.now()`). Defaults to now. */
  startedAt?: number
  /** Start a new trace even if another span is active. */
  root?: boolean
  /** W3C trace context of an incoming request, whose trace the span continues. */
  traceContext?: { traceparent: string | undefined; tracestate: string | undefined }
}

export interface Tracer {
  /** Undefined if the trace is not sampled, so that callers can skip work. */
  startSpan(name: string, beginning?: SpanOptions): Span | undefined
  /** Exports pending spans, for a limited time. */
  shutdown(): Promise<void>
}

export const noopTracer: Tracer = { startSpan: () => undefined, shutdown: async () => {} }

/** Settings of tracing, from the standard variables of OpenTelemetry. */
export interface TraceSettings {
  /** OTLP/HTTP endpoint, such as `http://collector:4318/v1/traces`. */
  url: string
  /** Defaults to `eyrie-<service>`. */
  serviceName: string | undefined
  /** Share of the traces started here that are sampled, 0..1. */
  sampleRatio: number
  /** Interval between exports. */
  exportDelayMs: number
  exportTimeoutMs: number
}

/** Creates a span for each request. The query is omitted because it may contain a token. */
export function traceRequests(tracer: Tracer): MiddlewareHandler {
  return async (c, next) => {
    const { method, path } = c.req
    const span = tracer.startSpan(method, {
      attributes: { 'http.request.method': method, 'url.path': path },
      traceContext: { traceparent: c.req.header('traceparent'), tracestate: c.req.header('tracestate') },
    })
    if (!span) return next()
    await span.run(next)
    const route = routePath(c)
    const { status } = c.res
    span.setAttributes({ 'http.route': route, 'http.response.status_code': status })
    span.rename(`${method} ${route}`)
    span.end(status >= 500 ? `answered ${status}` : undefined)
  }
}
