import type { Handler } from 'hono'
import { Counter, Gauge, type Registry } from 'prom-client'

/**
 * A metric whose values are read when Prometheus scrapes the service, instead of being
 * updated all the time.
 */
export interface MetricOptions {
  name: string
  /** Description in one sentence. */
  help: string
  labelNames?: string[]
  /** Returns the value of a metric without labels, or all samples of a metric with labels. */
  read(): number | Sample[] | Promise<number | Sample[]>
}

/** A value with its labels. */
export type Sample = readonly [labels: Record<string, string | number>, value: number]

/** Adds a gauge whose samples are read at each scrape. */
export function addGauge(registry: Registry, { read, ...options }: MetricOptions): void {
  new Gauge({
    ...options,
    registers: [registry],
    async collect() {
      const samples = toSamples(await read())
      this.reset()
      for (const [labels, value] of samples) this.set(labels, value)
    },
  })
}

/** Adds a counter whose total is read at each scrape. Its name ends in `_total`. */
export function addCounter(registry: Registry, { read, ...options }: MetricOptions): void {
  new Counter({
    ...options,
    registers: [registry],
    async collect() {
      const samples = toSamples(await read())
      this.reset()
      for (const [labels, value] of samples) this.inc(labels, value)
    },
  })
}

/** A metric without labels has a single sample. */
function toSamples(values: number | Sample[]): Sample[] {
  return typeof values === 'number' ? [[{}, values]] : values
}

/** Serves the metrics of a registry in the Prometheus text format. */
export function serveMetrics(registry: Registry): Handler {
  return async c => c.body(await registry.metrics(), 200, { 'Content-Type': registry.contentType })
}
