import { type SourceState, sourceState } from '@eyrie/contract'
import { type MetricFamily, renderMetrics } from '@eyrie/kit/prometheus-metrics'
import type { Source } from './source.ts'

export function countByState(sources: readonly Source[]): Record<SourceState, number> {
  const counts = Object.fromEntries(sourceState.options.map(state => [state, 0])) as Record<
    SourceState,
    number
  >
  for (const source of sources) counts[source.status().state]++
  return counts
}

/** Returns the metrics of all sources in the Prometheus text format. */
export function sourceMetrics(sources: readonly Source[]): string {
  const states = Object.entries(countByState(sources))
  const readings = sources.map(source => ({
    labels: { source: source.status().id },
    status: source.status(),
    ...source.stats(),
    viewers: source.variants.viewerCount(),
    transcoding: source.variants.isTranscoding(),
  }))
  type Reading = (typeof readings)[number]

  const perSource = (
    name: string,
    type: MetricFamily['type'],
    help: string,
    getValue: (reading: Reading) => number,
  ): MetricFamily => ({
    name: `eyrie_media_${name}`,
    type,
    help,
    samples: readings.map(reading => [reading.labels, getValue(reading)]),
  })

  return renderMetrics([
    {
      name: 'eyrie_media_sources',
      type: 'gauge',
      help: 'Number of sources by state.',
      samples: states.map(([state, count]) => [{ state }, count]),
    },
    perSource('packets_total', 'counter', 'Encoded packets received.', ({ packets }) => packets),
    perSource('frames_total', 'counter', 'Decoded frames written for readers.', ({ written }) => written),
    perSource(
      'frames_dropped_total',
      'counter',
      'Decoded frames dropped instead of written for readers.',
      ({ dropped }) => dropped,
    ),
    perSource(
      'source_attempts',
      'gauge',
      'Consecutive failed attempts to connect to the source.',
      ({ status }) => status.attempts ?? 0,
    ),
    perSource(
      'packet_loss',
      'gauge',
      'Share of packets recently lost on the network, 0 to 1.',
      ({ status }) => status.loss ?? 0,
    ),
    perSource(
      'clock_skew_seconds',
      'gauge',
      "How far the camera's clock is ahead, if known.",
      ({ status }) => status.clock?.skew_s ?? 0,
    ),
    perSource('decoding', 'gauge', 'Whether the source is being decoded.', reading =>
      Number(reading.decoding),
    ),
    perSource('views', 'gauge', 'Sizes and formats in which frames are read.', ({ views }) => views),
    perSource('transcoding', 'gauge', 'Whether the source is being encoded to H.264 for viewers.', reading =>
      Number(reading.transcoding),
    ),
    perSource('viewers', 'gauge', 'Number of viewers of live views.', ({ viewers }) => viewers),
  ])
}
