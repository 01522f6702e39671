import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/**
 * A timed operation. A trace is a tree of spans, such as a request and the steps that handle it.
 */
export interface Span {
  /** Starts a child span. */
  child(name: string, attributes?: SpanAttributes): Span
  /**
   * Runs `work`. Spans that are started in `work`, even after an `await`, become
   * children of this span.
   */
  run<T>(work: () => T): T
  setAttributes(attributes: SpanAttributes): void
  rename(name: string): void
  /** Ends the span. If `failure` is defined, the span has an error status. */
  end(failure?: string): void
}

export interface SpanOptions {
  attributes?: SpanAttributes
  /** Start time in ms of the monotonic clock (`performance.now()`). Defaults to now. */
  startedAt?: number
  /** Start a new trace even if another span is active. */
  root?: boolean
  /**
   * The trace headers of an incoming request (W3C Trace Context). The span becomes part of that
   * trace.
   */
  traceContext?: { traceparent: string | undefined; tracestate: string | undefined }
}

/**
 * Starts spans and exports them to a collector. The services depend on this interface
 * instead of OpenTelemetry.
 */
export interface Tracer {
  /** Starts a span. Returns undefined if the trace is not sampled. */
  startSpan(name: string, options?: SpanOptions): Span | undefined
  /** Exports pending spans and resolves, at the latest after a timeout. */
  shutdown(): Promise<void>
}

/** The tracer of a service without tracing. */
export const noopTracer: Tracer = { startSpan: () => undefined, shutdown: async () => {} }

/** Tracing settings, from the standard environment variables of OpenTelemetry. */
export interface TraceSettings {
  /** OTLP/HTTP endpoint, such as `http://collector:4318/v1/traces`. */
  url: string
  /** Headers for the collector, which may contain its token. */
  headers: Record<string, string>
  /** Defaults to `eyrie-<service>`. */
  serviceName: string | undefined
  /**
   * Share of new traces that are sampled, 0..1. Traces of incoming requests keep
   * their sampling decision.
   */
  sampleRatio: number
  /** Interval between exports. */
  exportDelayMs: number
  exportTimeoutMs: number
}

/**
 * Creates a middleware that starts a span for each request. The span omits the query, which
 * may contain a token.
 */
export function traceRequests(tracer: Tracer): MiddlewareHandler {
  return async (c, next) => {
    const { method, path } = c.req
    const span = tracer.startSpan(method, {
      attributes: { 'http.request.method': method, 'url.path': path },
      traceContext: {
        traceparent: c.req.header('traceparent'),
        tracestate: c.req.header('tracestate'),
      },
    })
    if (!span) return next()
    await span.run(next)

    // The route, such as `/sources/:id`, is known only after the request was handled.
    const route = routePath(c)
    const { status } = c.res
    span.setAttributes({ 'http.route': route, 'http.response.status_code': status })
    span.rename(`${method} ${route}`)
    span.end(status >= 500 ? `answered ${status}` : undefined)
  }
}
