import type { MetricValues } from '@eyrie/element/metrics'
import { addCounter, addGauge, type Sample } from '@eyrie/kit/prometheus-metrics'
import { Registry } from 'prom-client'
import type { ChannelStatistics } from '../runtime/status-reporter.ts'
import { roundToThousandths } from '../statistics/round.ts'
import type { ApiContext } from './operations/api-context.ts'
import { listAlarms } from './operations/engine-status.ts'

type MetricsContext = Pick<
  ApiContext,
  | 'admission'
  | 'configuration'
  | 'disk'
  | 'runtime'
  | 'meter'
  | 'models'
  | 'output'
  | 'pictures'
  | 'plugins'
>

/**
 * Creates the Prometheus metrics of the engine. Values are collected when the registry is scraped.
 */
export function createEngineMetrics(context: MetricsContext): Registry {
  const registry = new Registry()
  registerChannelMetrics(registry, context)
  registerElementMetrics(registry, context)
  registerCapacityMetrics(registry, context)
  registerOutputMetrics(registry, context)
  registerSystemMetrics(registry, context)
  return registry
}

function registerChannelMetrics(
  registry: Registry,
  { configuration, runtime }: MetricsContext,
): void {
  const labelNames = ['channel', 'source', 'pipeline']

  function sampleChannels(
    toSamples: (labels: Record<string, number>, statistics: ChannelStatistics) => Sample[],
  ): Sample[] {
    return configuration
      .channels()
      .flatMap(({ id, source, pipeline }) =>
        toSamples({ channel: id, source, pipeline }, runtime.channelStatistics(id)),
      )
  }

  addGauge(registry, {
    name: 'eyrie_engine_channel_fps',
    help: 'Analysed frames per second, over the last ten seconds.',
    labelNames,
    read: () => sampleChannels((labels, { fps }) => [[labels, fps]]),
  })
  addGauge(registry, {
    name: 'eyrie_engine_channel_latency_seconds',
    help: 'Time from decoded frame to output: quantiles over the last ten seconds.',
    labelNames: [...labelNames, 'quantile'],
    read: () =>
      sampleChannels((labels, { latency, latencyP95 }) => [
        [{ ...labels, quantile: 0.5 }, latency / 1000],
        [{ ...labels, quantile: 0.95 }, latencyP95 / 1000],
      ]),
  })
  addCounter(registry, {
    name: 'eyrie_engine_frames_analysed_total',
    help: 'Frames analysed since the channel was started.',
    labelNames,
    read: () => sampleChannels((labels, { analysed }) => [[labels, analysed]]),
  })
  addCounter(registry, {
    name: 'eyrie_engine_frames_dropped_total',
    help: 'Frames dropped since the channel was started: for lack of capacity (lacking) or because of a failure (failed).',
    labelNames: [...labelNames, 'reason'],
    read: () =>
      sampleChannels((labels, { dropped }) => [
        [{ ...labels, reason: 'lacking' }, dropped.overload],
        [{ ...labels, reason: 'failed' }, dropped.failed],
      ]),
  })
}

/** Registers the metrics that elements report themselves. */
function registerElementMetrics(
  registry: Registry,
  { configuration, runtime }: MetricsContext,
): void {
  const labelNames = ['channel', 'element', 'metric']

  function sampleElements(kind: keyof MetricValues): Sample[] {
    const samples: Sample[] = []
    for (const { id: channel } of configuration.channels()) {
      for (const [element, metrics] of runtime.elementMetrics(channel)) {
        for (const [metric, value] of Object.entries(metrics[kind])) {
          samples.push([{ channel, element, metric }, value])
        }
      }
    }
    return samples
  }

  addGauge(registry, {
    name: 'eyrie_engine_element_value',
    help: 'Present values of what elements measure.',
    labelNames,
    read: () => sampleElements('values'),
  })
  addCounter(registry, {
    name: 'eyrie_engine_element_total',
    help: 'Totals of what elements count for operators, since they were opened.',
    labelNames,
    read: () => sampleElements('totals'),
  })
}

function registerCapacityMetrics(
  registry: Registry,
  { admission, configuration }: MetricsContext,
): void {
  addGauge(registry, {
    name: 'eyrie_capacity_cores',
    help: 'CPU cores available to channels.',
    read: () => admission.cores,
  })
  addGauge(registry, {
    name: 'eyrie_load_predicted_cores',
    help: 'CPU cores that all channels are predicted to need, from measured costs.',
    read: () => roundToThousandths(admission.estimateLoad(configuration.plan()).cores),
  })
}

function registerOutputMetrics(registry: Registry, context: MetricsContext): void {
  const { output } = context
  addCounter(registry, {
    name: 'eyrie_engine_output_messages_total',
    help: 'Sequence number of the newest message of the output.',
    read: () => output.status().newest,
  })
  addGauge(registry, {
    name: 'eyrie_engine_output_followers',
    help: 'Clients connected to the output.',
    read: () => output.status().followers,
  })
  addGauge(registry, {
    name: 'eyrie_engine_output_storing',
    help: 'Whether durable messages can be stored (1) or the disk fails (0).',
    read: () => Number(output.status().storing),
  })
  addGauge(registry, {
    name: 'eyrie_engine_alarms',
    help: 'Conditions that require action by an operator; /health lists them.',
    read: () => listAlarms(context).length,
  })
}

function registerSystemMetrics(registry: Registry, { meter }: MetricsContext): void {
  addGauge(registry, {
    name: 'eyrie_engine_uptime_seconds',
    help: 'Time since the engine was started, in seconds.',
    read: async () => (await meter.read()).uptime,
  })
  addGauge(registry, {
    name: 'eyrie_system_cpu_ratio',
    help: 'Share of all CPU cores of the machine that is busy, 0..1.',
    read: async () => (await meter.read()).cpu / 100,
  })
  addGauge(registry, {
    name: 'eyrie_system_memory_bytes',
    help: 'Memory in use on the machine: RAM (physical), or RAM and swap together (virtual).',
    labelNames: ['kind'],
    read: async () => {
      const statistics = await meter.read()
      return [
        [{ kind: 'physical' }, statistics.mem_physical],
        [{ kind: 'virtual' }, statistics.mem_virtual],
      ]
    },
  })
}
