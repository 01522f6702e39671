import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Log } from './log.ts'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A piece of work with its beginning and its end, as trace viewers show it. */
export interface Span {
  /** Begins a part of this work. */
  child(name: string, attributes?: SpanAttributes): Span
  /** Spans that begin in `work`, or in what it sets going, are parts of this one. */
  run<T>(work: () => T): T
  setAttributes(attributes: SpanAttributes): void
  rename(name: string): void
  /** `failure` says what went wrong. */
  end(failure?: string): void
}

export interface SpanOptions {
  attributes?: SpanAttributes
  /** ms of the monotonic clock (`performance.now()`); now, where it is left out. */
  startedAt?: number
  /** A trace of its own, whatever has set it going. */
  root?: boolean
  /** The W3C trace context of a request that is answered: the trace of whoever asks goes on. */
  traceContext?: { traceparent: string | undefined; tracestate: string | undefined }
}

export interface Tracer {
  /** Undefined where this work is not to be traced; then nothing is spent on it. */
  startSpan(name: string, beginning?: SpanOptions): Span | undefined
  /** Sends what has not been sent, unless that takes long. */
  shutdown(): Promise<void>
}

export const noopTracer: Tracer = { startSpan: () => undefined, shutdown: async () => {} }

/** Where traces go and how many, by OpenTelemetry's standard variables. */
export interface TraceSettings {
  /** Takes OTLP over HTTP, such as `http://collector:4318/v1/traces`. */
  url: string
  /** Instead of `eyrie-<service>`. */
  serviceName: string | undefined
  /** Which share of the traces that begin here is kept, 0..1. */
  sampleRatio: number
  /** Spans are sent together after this time. */
  exportDelayMs: number
  exportTimeoutMs: number
}

/** Without settings nothing of OpenTelemetry is loaded. */
export async function startTracer(
  settings: TraceSettings | undefined,
  service: string,
  log: Log,
): Promise<Tracer> {
  if (!settings) return noopTracer
  const { createOpenTelemetryTracer } = await import('./open-telemetry.ts')
  return createOpenTelemetryTracer(settings, service, log)
}

/** A span for each request, part of the trace that its `traceparent` names. The query may hold a token and stays out. */
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
