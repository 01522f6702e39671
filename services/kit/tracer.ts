import type { Log } from './log.ts'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A piece of work with its beginning and its end, as trace viewers show it. */
export interface Span {
  /** Begins a part of this work. */
  child(name: string, attributes?: SpanAttributes): Span
  /** Spans that begin in `work`, or in what it sets going, are parts of this one. */
  run<T>(work: () => T): T
  set(attributes: SpanAttributes): void
  rename(name: string): void
  /** `failure` says what went wrong. */
  end(failure?: string): void
}

export interface SpanBeginning {
  attributes?: SpanAttributes
  /** ms of the monotonic clock (`performance.now()`); now, where it is left out. */
  startedAt?: number
  /** A trace of its own, whatever has set it going. */
  root?: boolean
  /** The W3C trace context of a request that is answered: the trace of whoever asks goes on. */
  request?: { traceparent: string | undefined; tracestate: string | undefined }
}

export interface Tracer {
  /** Undefined where this work is not to be traced; then nothing is spent on it. */
  begin(name: string, beginning?: SpanBeginning): Span | undefined
  /** Sends what has not been sent, unless that takes long. */
  stop(): Promise<void>
}

export const noTracer: Tracer = { begin: () => undefined, stop: async () => {} }

/** Where traces go and how many, by OpenTelemetry's standard variables. */
export interface TraceSettings {
  /** Takes OTLP over HTTP, such as `http://collector:4318/v1/traces`. */
  url: string
  /** Instead of `eyrie-<service>`. */
  serviceName: string | undefined
  /** Which share of the traces that begin here is kept, 0..1. */
  share: number
  /** Spans are sent together after this time. */
  delayMs: number
  timeoutMs: number
}

/** Without settings nothing of OpenTelemetry is loaded. */
export async function startTracer(
  settings: TraceSettings | undefined,
  service: string,
  log: Log,
): Promise<Tracer> {
  if (!settings) return noTracer
  const { createOpenTelemetryTracer } = await import('./open-telemetry.ts')
  return createOpenTelemetryTracer(settings, service, log)
}
