import { type SourceState, sourceState } from '@eyrie/contract'
import { addCounter, addGauge, type Sample } from '@eyrie/kit/prometheus-metrics'
import type { Registry } from 'prom-client'
import type { Source } from './source.ts'

/** A metric with one value per source. */
interface SourceMetric {
  add: typeof addGauge | typeof addCounter
  name: string
  help: string
  getValue(source: Source): number
}

const sourceMetrics: readonly SourceMetric[] = [
  {
    add: addCounter,
    name: 'eyrie_media_packets_total',
    help: 'Encoded packets received.',
    getValue: source => source.stats().packets,
  },
  {
    add: addCounter,
    name: 'eyrie_media_frames_total',
    help: 'Decoded frames written for readers.',
    getValue: source => source.stats().written,
  },
  {
    add: addCounter,
    name: 'eyrie_media_frames_dropped_total',
    help: 'Decoded frames dropped instead of written for readers.',
    getValue: source => source.stats().dropped,
  },
  {
    add: addGauge,
    name: 'eyrie_media_source_attempts',
    help: 'Consecutive failed attempts to connect to the source.',
    getValue: source => source.status().attempts ?? 0,
  },
  {
    add: addGauge,
    name: 'eyrie_media_packet_loss',
    help: 'Share of packets recently lost on the network, 0 to 1.',
    getValue: source => source.status().loss ?? 0,
  },
  {
    add: addGauge,
    name: 'eyrie_media_clock_skew_seconds',
    help: "How far the camera's clock is ahead, if known.",
    getValue: source => source.status().clock?.skew_s ?? 0,
  },
  {
    add: addGauge,
    name: 'eyrie_media_decoding',
    help: 'Whether the source is being decoded.',
    getValue: source => Number(source.stats().decoding),
  },
  {
    add: addGauge,
    name: 'eyrie_media_views',
    help: 'Sizes and formats in which frames are read.',
    getValue: source => source.stats().views,
  },
  {
    add: addGauge,
    name: 'eyrie_media_transcoding',
    help: 'Whether the source is being encoded to H.264 for viewers.',
    getValue: source => Number(source.variants.isTranscoding()),
  },
  {
    add: addGauge,
    name: 'eyrie_media_viewers',
    help: 'Number of viewers of live views.',
    getValue: source => source.variants.viewerCount(),
  },
]

/**
 * Registers the Prometheus metrics of all sources (cameras and files). They are read when
 * Prometheus collects them.
 */
export function registerSourceMetrics(
  registry: Registry,
  listSources: () => readonly Source[],
): void {
  addGauge(registry, {
    name: 'eyrie_media_sources',
    help: 'Number of sources by state.',
    labelNames: ['state'],
    read: () =>
      Object.entries(countByState(listSources())).map(([state, count]) => [{ state }, count]),
  })

  for (const { add, name, help, getValue } of sourceMetrics) {
    const read = () =>
      listSources().map((source): Sample => [{ source: source.status().id }, getValue(source)])
    add(registry, { name, help, labelNames: ['source'], read })
  }
}

/** Returns the number of sources in each state, including states without sources. */
export function countByState(sources: readonly Source[]): Record<SourceState, number> {
  const zeros = sourceState.options.map(state => [state, 0])
  const counts: Record<SourceState, number> = Object.fromEntries(zeros)
  for (const source of sources) counts[source.status().state]++
  return counts
}
