import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  type Span as OpenTelemetrySpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Log } from './log.ts'
import { withTimeout } from './timeout.ts'
import type { Span, SpanOptions, Tracer, TraceSettings } from './tracer.ts'

const SHUTDOWN_MS = 500

/** Exports spans over OTLP/HTTP as JSON. If the receiver is too slow, spans are dropped beyond a queue of 2048. */
export function createOpenTelemetryTracer(settings: TraceSettings, service: string, log: Log): Tracer {
  const { url, serviceName, sampleRatio, exportDelayMs, exportTimeoutMs } = settings
  const exporter = logStateChanges(new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs }), url, log)
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': serviceName ?? `eyrie-${service}`,
        'process.pid': process.pid,
      }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: exportDelayMs })],
  })
  const tracer = provider.getTracer(`eyrie-${service}`)
  const activeContext = new AsyncLocalStorage<Context>()

  /**
   * `offsetMs`: system time minus monotonic time. All spans of a trace use the same offset, so that they stay consistent
   * when the system clock is adjusted.
   */
  const wrap = (span: OpenTelemetrySpan, offsetMs: number): Span => {
    const now = () => performance.now() + offsetMs
    const context = trace.setSpan(ROOT_CONTEXT, span)
    return {
      child: (name, attributes) =>
        wrap(tracer.startSpan(name, { attributes, startTime: now() }, context), offsetMs),
      run: work => activeContext.run(context, work),
      setAttributes: attributes => span.setAttributes(attributes),
      rename: name => span.updateName(name),
      end: failure => {
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
        span.end(now())
      },
    }
  }

  return {
    startSpan: (name, { attributes, startedAt = performance.now(), root, traceContext } = {}) => {
      const offsetMs = Date.now() - performance.now()
      const parent = traceContext
        ? parseTraceContext(traceContext)
        : (activeContext.getStore() ?? ROOT_CONTEXT)
      const kind = traceContext ? SpanKind.SERVER : SpanKind.INTERNAL
      const span = tracer.startSpan(name, { kind, attributes, root, startTime: startedAt + offsetMs }, parent)
      return span.isRecording() ? wrap(span, offsetMs) : undefined
    },
    shutdown: async () => {
      await withTimeout(SHUTDOWN_MS, provider.shutdown()).catch(() => {})
    },
  }
}

/** Parses the headers of a request (W3C Trace Context). Returns the root context if they are missing or not valid. */
function parseTraceContext({ traceparent, tracestate }: NonNullable<SpanOptions['traceContext']>): Context {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(traceparent ?? '') ?? []
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (version === undefined || version === 'ff' || !isSpanContextValid(spanContext)) return ROOT_CONTEXT
  const traceState = tracestate ? createTraceState(tracestate) : undefined
  return trace.setSpanContext(ROOT_CONTEXT, { ...spanContext, traceState })
}

/** Logs a failed export once, and once more when exports succeed again. */
function logStateChanges(exporter: SpanExporter, url: string, log: Log): SpanExporter {
  const receiver = new URL(url).host
  let isDown = false
  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        const failure = result.error?.message
        if (failure !== undefined && !isDown)
          log.warn(
            { receiver, failure },
            'failed to export traces: dropping them until the receiver recovers',
          )
        if (failure === undefined && isDown) log.info({ receiver }, 'exporting traces again')
        isDown = failure !== undefined
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
