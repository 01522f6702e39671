import { type MetricFamily, renderMetrics, type Sample } from '@eyrie/kit/prometheus-metrics'
import type { ChannelPlan } from '../plan/plan.ts'
import type { ChannelStatistics } from '../runtime/status-reporter.ts'
import { listAlarms } from './engine-health.ts'
import type { ApiContext } from './operations/api-context.ts'

type Measured = Pick<ApiContext, 'admission' | 'configuration' | 'runtime' | 'meter' | 'output' | 'pictures'>

/** Metrics of channels, capacity, output and machine in the Prometheus text format. */
export async function formatMetrics(measured: Measured): Promise<string> {
  return renderMetrics([
    ...channelFamilies(measured),
    ...capacityFamilies(measured),
    ...outputFamilies(measured),
    ...(await systemFamilies(measured)),
  ])
}

function channelFamilies({ configuration, runtime }: Measured): MetricFamily[] {
  const channels = configuration.channels().map(plan => ({
    labels: labelsOf(plan),
    statistics: runtime.channelStatistics(plan.id),
  }))
  const each = (samples: (of: ChannelStatistics) => Sample[]) =>
    channels.flatMap(({ labels, statistics }) =>
      samples(statistics).map(([own, value]): Sample => [{ ...labels, ...own }, value]),
    )
  return [
    {
      name: 'eyrie_engine_channel_fps',
      type: 'gauge',
      help: 'Analysed frames a second, over the last ten seconds.',
      samples: each(({ fps }) => [[{}, fps]]),
    },
    {
      name: 'eyrie_engine_channel_latency_seconds',
      type: 'gauge',
      help: 'Time from decoded frame to output: quantiles over the last ten seconds.',
      samples: each(({ latency, latencyP95 }) => [
        [{ quantile: 0.5 }, latency / 1000],
        [{ quantile: 0.95 }, latencyP95 / 1000],
      ]),
    },
    {
      name: 'eyrie_engine_frames_analysed_total',
      type: 'counter',
      help: 'Frames that were analysed since the channel began.',
      samples: each(({ analysed }) => [[{}, analysed]]),
    },
    {
      name: 'eyrie_engine_frames_dropped_total',
      type: 'counter',
      help: 'Frames that were not analysed since the channel began: for want of capacity (lacking), or because something had failed.',
      samples: each(({ dropped }) => [
        [{ reason: 'lacking' }, dropped.overload],
        [{ reason: 'failed' }, dropped.failed],
      ]),
    },
  ]
}

function capacityFamilies({ admission, configuration }: Measured): MetricFamily[] {
  const { cores } = admission.estimateLoad(configuration.plan())
  return [
    single(
      'eyrie_capacity_cores',
      'gauge',
      'Cores that channels may need together; more is refused.',
      admission.cores,
    ),
    single(
      'eyrie_load_predicted_cores',
      'gauge',
      'Cores that all channels need together, as far as it was measured.',
      Math.round(1000 * cores) / 1000,
    ),
  ]
}

function outputFamilies({ output, pictures }: Measured): MetricFamily[] {
  const { newest, followers, storing } = output.status()
  return [
    single(
      'eyrie_engine_output_messages_total',
      'counter',
      'Number of the newest message of the output.',
      newest,
    ),
    single('eyrie_engine_output_followers', 'gauge', 'Connections that follow the output.', followers),
    single(
      'eyrie_engine_output_storing',
      'gauge',
      'Whether the disk takes durable messages.',
      Number(storing),
    ),
    single(
      'eyrie_engine_alarms',
      'gauge',
      'What a person has to do something about; /health tells what.',
      listAlarms({ output, pictures }).length,
    ),
  ]
}

async function systemFamilies({ meter }: Measured): Promise<MetricFamily[]> {
  const { cpu, mem_physical, mem_virtual, uptime } = await meter.read()
  return [
    single('eyrie_engine_uptime_seconds', 'gauge', 'Time since the engine was started.', uptime),
    single('eyrie_system_cpu_ratio', 'gauge', 'Share of all cores of the machine that is busy.', cpu / 100),
    {
      name: 'eyrie_system_memory_bytes',
      type: 'gauge',
      help: 'Memory of the machine in use: RAM (physical), RAM and swap together (virtual).',
      samples: [
        [{ kind: 'physical' }, mem_physical],
        [{ kind: 'virtual' }, mem_virtual],
      ],
    },
  ]
}

const single = (name: string, type: MetricFamily['type'], help: string, value: number): MetricFamily => ({
  name,
  type,
  help,
  samples: [[{}, value]],
})

const labelsOf = ({ id, source, pipeline }: ChannelPlan) => ({ channel: id, source, pipeline })
