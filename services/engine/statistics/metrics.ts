import { family, type Sample } from '@eyrie/kit/prometheus'
import type { Core } from '../api/core.ts'
import { alarmsOf } from '../health.ts'
import type { ChannelPlan, ChannelStatistics } from '../ports.ts'

type Measured = Pick<Core, 'configuration' | 'runtime' | 'meter' | 'output' | 'pictures'>

/** How channels, output and machine are doing, in Prometheus' text format. */
export async function metrics({
  configuration,
  runtime,
  meter,
  output,
  pictures,
}: Measured): Promise<string> {
  const channels = configuration.channels().map(plan => ({
    labels: labelsOf(plan),
    ...runtime.channelStatistics(plan.id),
  }))
  const each = (name: string, type: 'gauge' | 'counter', samples: (of: ChannelStatistics) => Sample[]) =>
    family(
      name,
      type,
      channels.flatMap(({ labels, ...statistics }) =>
        samples(statistics).map(([own, value]): Sample => [{ ...labels, ...own }, value]),
      ),
    )
  const { newest, followers, storing } = output.status()
  const { cpu, mem_physical, mem_virtual, uptime } = await meter.read()
  return [
    each('eyrie_engine_channel_fps', 'gauge', ({ fps }) => [[{}, fps]]),
    each('eyrie_engine_channel_latency_seconds', 'gauge', ({ latency, latencyP95 }) => [
      [{ quantile: 0.5 }, latency / 1000],
      [{ quantile: 0.95 }, latencyP95 / 1000],
    ]),
    each('eyrie_engine_frames_dropped_total', 'counter', ({ dropped }) => [
      [{ reason: 'lacking' }, dropped.lacking],
      [{ reason: 'failed' }, dropped.failed],
    ]),
    family('eyrie_engine_output_messages_total', 'counter', [[{}, newest]]),
    family('eyrie_engine_output_followers', 'gauge', [[{}, followers]]),
    family('eyrie_engine_output_storing', 'gauge', [[{}, Number(storing)]]),
    family('eyrie_engine_alarms', 'gauge', [[{}, alarmsOf({ output, pictures }).length]]),
    family('eyrie_engine_uptime_seconds', 'gauge', [[{}, uptime]]),
    family('eyrie_system_cpu_ratio', 'gauge', [[{}, cpu / 100]]),
    family('eyrie_system_memory_bytes', 'gauge', [
      [{ kind: 'physical' }, mem_physical],
      [{ kind: 'virtual' }, mem_virtual],
    ]),
  ].join('')
}

const labelsOf = ({ id, source, pipeline }: ChannelPlan) => ({ channel: id, source, pipeline })
