import type { Log } from './log.ts'
import { noopTracer, type Tracer, type TraceSettings } from './tracer.ts'

/** Creates the tracer of a service. OpenTelemetry is loaded only if tracing is enabled. */
export async function startTracer(
  settings: TraceSettings | undefined,
  service: string,
  log: Log,
): Promise<Tracer> {
  if (!settings) return noopTracer
  const { createOpenTelemetryTracer } = await import('./open-telemetry.ts')
  return createOpenTelemetryTracer(settings, service, log)
}
