import { Counter, Gauge, Registry } from 'prom-client'
import type { ChannelStatistics } from '../runtime/status-reporter.ts'
import type { ApiContext } from './operations/api-context.ts'
import { listAlarms } from './operations/engine-status.ts'

type MetricsContext = Pick<
  ApiContext,
  'admission' | 'configuration' | 'runtime' | 'meter' | 'output' | 'pictures'
>

/** Metrics of channels, capacity, output and machine. Values are collected when the registry is scraped. */
export function createEngineMetrics(context: MetricsContext): Registry {
  const registry = new Registry()
  registerChannelMetrics(registry, context)
  registerCapacityMetrics(registry, context)
  registerOutputMetrics(registry, context)
  registerSystemMetrics(registry, context)
  return registry
}

interface MetricOptions {
  name: string
  help: string
}

function registerChannelMetrics(registry: Registry, { configuration, runtime }: MetricsContext): void {
  const registers = [registry]
  const channelLabels = ['channel', 'source', 'pipeline']

  function forEachChannel(
    report: (labels: Record<string, number>, statistics: ChannelStatistics) => void,
  ): void {
    for (const { id, source, pipeline } of configuration.channels())
      report({ channel: id, source, pipeline }, runtime.channelStatistics(id))
  }

  // The metrics are reset before each scrape: deleted channels must not keep their last values.
  new Gauge({
    name: 'eyrie_engine_channel_fps',
    help: 'Analysed frames a second, over the last ten seconds.',
    labelNames: channelLabels,
    registers,
    collect() {
      this.reset()
      forEachChannel((labels, { fps }) => this.set(labels, fps))
    },
  })
  new Gauge({
    name: 'eyrie_engine_channel_latency_seconds',
    help: 'Time from decoded frame to output: quantiles over the last ten seconds.',
    labelNames: [...channelLabels, 'quantile'],
    registers,
    collect() {
      this.reset()
      forEachChannel((labels, { latency, latencyP95 }) => {
        this.set({ ...labels, quantile: 0.5 }, latency / 1000)
        this.set({ ...labels, quantile: 0.95 }, latencyP95 / 1000)
      })
    },
  })
  new Counter({
    name: 'eyrie_engine_frames_analysed_total',
    help: 'Frames that were analysed since the channel began.',
    labelNames: channelLabels,
    registers,
    collect() {
      this.reset()
      forEachChannel((labels, { analysed }) => this.inc(labels, analysed))
    },
  })
  new Counter({
    name: 'eyrie_engine_frames_dropped_total',
    help: 'Frames that were not analysed since the channel began: for want of capacity (lacking), or because something had failed.',
    labelNames: [...channelLabels, 'reason'],
    registers,
    collect() {
      this.reset()
      forEachChannel((labels, { dropped }) => {
        this.inc({ ...labels, reason: 'lacking' }, dropped.overload)
        this.inc({ ...labels, reason: 'failed' }, dropped.failed)
      })
    },
  })
}

function registerCapacityMetrics(registry: Registry, { admission, configuration }: MetricsContext): void {
  addGauge(
    registry,
    { name: 'eyrie_capacity_cores', help: 'Cores that channels may need together; more is refused.' },
    () => admission.cores,
  )
  addGauge(
    registry,
    {
      name: 'eyrie_load_predicted_cores',
      help: 'Cores that all channels need together, as far as it was measured.',
    },
    () => Math.round(1000 * admission.estimateLoad(configuration.plan()).cores) / 1000,
  )
}

function registerOutputMetrics(registry: Registry, { output, pictures }: MetricsContext): void {
  new Counter({
    name: 'eyrie_engine_output_messages_total',
    help: 'Number of the newest message of the output.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(output.status().newest)
    },
  })
  addGauge(
    registry,
    { name: 'eyrie_engine_output_followers', help: 'Connections that follow the output.' },
    () => output.status().followers,
  )
  addGauge(
    registry,
    { name: 'eyrie_engine_output_storing', help: 'Whether the disk takes durable messages.' },
    () => Number(output.status().storing),
  )
  addGauge(
    registry,
    {
      name: 'eyrie_engine_alarms',
      help: 'Conditions that require action by an operator; /health lists them.',
    },
    () => listAlarms({ output, pictures }).length,
  )
}

function registerSystemMetrics(registry: Registry, { meter }: MetricsContext): void {
  addGauge(
    registry,
    { name: 'eyrie_engine_uptime_seconds', help: 'Time since the engine was started.' },
    async () => (await meter.read()).uptime,
  )
  addGauge(
    registry,
    { name: 'eyrie_system_cpu_ratio', help: 'Share of all cores of the machine that is busy.' },
    async () => (await meter.read()).cpu / 100,
  )
  new Gauge({
    name: 'eyrie_system_memory_bytes',
    help: 'Memory of the machine in use: RAM (physical), RAM and swap together (virtual).',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const { mem_physical, mem_virtual } = await meter.read()
      this.set({ kind: 'physical' }, mem_physical)
      this.set({ kind: 'virtual' }, mem_virtual)
    },
  })
}

/** Adds a gauge without labels. */
function addGauge(registry: Registry, options: MetricOptions, read: () => number | Promise<number>): void {
  new Gauge({
    ...options,
    registers: [registry],
    async collect() {
      this.set(await read())
    },
  })
}
