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

const STOP_MS = 500

/** Traces sent by OTLP over HTTP as JSON. What a receiver cannot take is left out, after 2048 waiting spans. */
export function createOpenTelemetryTracer(settings: TraceSettings, service: string, log: Log): Tracer {
  const { url, serviceName, sampleRatio, exportDelayMs, exportTimeoutMs } = settings
  const exporter = tellingOnce(new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs }), url, log)
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
  const current = new AsyncLocalStorage<Context>()

  /** `ahead`: of the monotonic clock, ms. One for a whole trace, so that its parts fit into it when a clock is set. */
  const wrap = (span: OpenTelemetrySpan, ahead: number): Span => {
    const now = () => performance.now() + ahead
    const inside = trace.setSpan(ROOT_CONTEXT, span)
    return {
      child: (name, attributes) =>
        wrap(tracer.startSpan(name, { attributes, startTime: now() }, inside), ahead),
      run: work => current.run(inside, work),
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
      const ahead = Date.now() - performance.now()
      const outside = traceContext ? callerOf(traceContext) : (current.getStore() ?? ROOT_CONTEXT)
      const kind = traceContext ? SpanKind.SERVER : SpanKind.INTERNAL
      const span = tracer.startSpan(name, { kind, attributes, root, startTime: startedAt + ahead }, outside)
      return span.isRecording() ? wrap(span, ahead) : undefined
    },
    shutdown: async () => {
      await withTimeout(STOP_MS, provider.shutdown()).catch(() => {})
    },
  }
}

/** The context that a request's headers name (W3C Trace Context); an empty one where they name none. */
function callerOf({ traceparent, tracestate }: NonNullable<SpanOptions['traceContext']>): Context {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(traceparent ?? '') ?? []
  const caller = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (version === undefined || version === 'ff' || !isSpanContextValid(caller)) return ROOT_CONTEXT
  const traceState = tracestate ? createTraceState(tracestate) : undefined
  return trace.setSpanContext(ROOT_CONTEXT, { ...caller, traceState })
}

/** A receiver that is down is told once, and once more when it is back. */
function tellingOnce(exporter: SpanExporter, url: string, log: Log): SpanExporter {
  const receiver = new URL(url).host
  let isDown = false
  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        const failure = result.error?.message
        if (failure !== undefined && !isDown)
          log.warn(
            { receiver, failure },
            'traces cannot be sent: they are left out until the receiver takes them',
          )
        if (failure === undefined && isDown) log.info({ receiver }, 'traces can be sent again')
        isDown = failure !== undefined
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
