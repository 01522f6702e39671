import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  type Span as OpenTelemetrySpan,
  type Tracer as OpenTelemetryTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
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

const SHUTDOWN_TIMEOUT_MS = 500
/** Version, trace ID, parent span ID and flags. Later versions may append further fields. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/**
 * Creates a tracer that exports spans over OTLP/HTTP as JSON. If 2048 spans are waiting for export,
 * further spans are dropped.
 */
export function createOpenTelemetryTracer(
  settings: TraceSettings,
  service: string,
  log: Log,
): Tracer {
  const provider = createProvider(settings, service, log)
  const tracer = provider.getTracer(`eyrie-${service}`)
  const activeContext = new AsyncLocalStorage<Context>()

  return {
    startSpan: (name, options = {}) => {
      const { attributes, startedAt = performance.now(), root, traceContext } = options
      const localParent = activeContext.getStore() ?? ROOT_CONTEXT
      const parent = traceContext ? parseTraceContext(traceContext) : localParent
      const kind = traceContext ? SpanKind.SERVER : SpanKind.INTERNAL
      const clockOffsetMs = Date.now() - performance.now()
      const startTime = startedAt + clockOffsetMs
      const span = tracer.startSpan(name, { kind, attributes, root, startTime }, parent)
      if (!span.isRecording()) return undefined
      return wrapSpan(span, { tracer, activeContext, clockOffsetMs })
    },
    shutdown: async () => {
      // A service must be able to stop while the collector is unreachable.
      await withTimeout(SHUTDOWN_TIMEOUT_MS, provider.shutdown()).catch(() => {})
    },
  }
}

function createProvider(settings: TraceSettings, service: string, log: Log): TracerProvider {
  const { url, headers, serviceName, sampleRatio, exportDelayMs, exportTimeoutMs } = settings
  const attributes = resourceFromAttributes({
    'service.name': serviceName ?? `eyrie-${service}`,
    'process.pid': process.pid,
  })
  const exporter = logOutages(
    new OTLPTraceExporter({ url, headers, timeoutMillis: exportTimeoutMs }),
    url,
    log,
  )
  return new TracerProvider({
    resource: defaultResource().merge(attributes),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: exportDelayMs })],
  })
}

interface SpanEnvironment {
  tracer: OpenTelemetryTracer
  /** The context of the span in which the current code runs. */
  activeContext: AsyncLocalStorage<Context>
  /**
   * The difference between system time and monotonic time. A child span uses the offset of its
   * parent, so the order of the spans remains correct when the system clock is adjusted.
   */
  clockOffsetMs: number
}

/** Wraps a span of OpenTelemetry in the interface that the services use. */
function wrapSpan(span: OpenTelemetrySpan, environment: SpanEnvironment): Span {
  const { tracer, activeContext, clockOffsetMs } = environment
  const context = trace.setSpan(ROOT_CONTEXT, span)
  const now = () => performance.now() + clockOffsetMs
  return {
    child: (name, attributes) => {
      const child = tracer.startSpan(name, { attributes, startTime: now() }, context)
      return wrapSpan(child, environment)
    },
    run: work => activeContext.run(context, work),
    setAttributes: attributes => span.setAttributes(attributes),
    rename: name => span.updateName(name),
    end: failure => {
      if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
      span.end(now())
    },
  }
}

/**
 * Parses the trace headers of a request (W3C Trace Context, section 3). Returns the root context if
 * a header is missing or invalid.
 */
function parseTraceContext({
  traceparent,
  tracestate,
}: NonNullable<SpanOptions['traceContext']>): Context {
  const [, version, traceId = '', spanId = '', flags = ''] =
    TRACEPARENT.exec(traceparent ?? '') ?? []
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const spanContext = { traceId, spanId, traceFlags, isRemote: true }
  // Version ff is invalid by definition.
  if (version === undefined || version === 'ff' || !isSpanContextValid(spanContext)) {
    return ROOT_CONTEXT
  }

  const traceState = tracestate ? createTraceState(tracestate) : undefined
  return trace.setSpanContext(ROOT_CONTEXT, { ...spanContext, traceState })
}

/**
 * Wraps an exporter to log when exports begin to fail and when they succeed again,
 * instead of every failure.
 */
function logOutages(exporter: SpanExporter, url: string, log: Log): SpanExporter {
  const receiver = new URL(url).host
  let isDown = false
  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        const failure = result.error?.message
        if (failure !== undefined && !isDown) {
          log.warn(
            { receiver, failure },
            'failed to export traces: dropping them until the receiver recovers',
          )
        }
        if (failure === undefined && isDown) log.info({ receiver }, 'exporting traces again')
        isDown = failure !== undefined
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
