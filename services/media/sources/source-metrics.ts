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

/** In Prometheus' text format. */
export function sourceMetrics(sources: readonly Source[]): string {
  const states = Object.entries(countByState(sources))
  const measured = sources.map(source => ({
    labels: { source: source.status().id },
    status: source.status(),
    ...source.stats(),
    viewers: source.variants.viewerCount(),
    transcoding: source.variants.isTranscoding(),
  }))
  type Measured = (typeof measured)[number]
  const each = (
    name: string,
    type: MetricFamily['type'],
    help: string,
    value: (of: Measured) => number,
  ): MetricFamily => ({
    name: `eyrie_media_${name}`,
    type,
    help,
    samples: measured.map(of => [of.labels, value(of)]),
  })
  return renderMetrics([
    {
      name: 'eyrie_media_sources',
      type: 'gauge',
      help: 'Sources by the state that they are in.',
      samples: states.map(([state, count]) => [{ state }, count]),
    },
    each('packets_total', 'counter', 'Encoded packets that came from the source.', of => of.packets),
    each('frames_total', 'counter', 'Decoded frames that were written for readers.', of => of.written),
    each(
      'frames_dropped_total',
      'counter',
      'Decoded frames that were not written for readers.',
      of => of.dropped,
    ),
    each(
      'source_attempts',
      'gauge',
      'Tries in a row to reach the source that came to nothing.',
      ({ status }) => status.attempts ?? 0,
    ),
    each(
      'packet_loss',
      'gauge',
      'Share of the packets that the network lost lately, 0 to 1.',
      ({ status }) => status.loss ?? 0,
    ),
    each(
      'clock_skew_seconds',
      'gauge',
      "By how much the camera's clock is ahead, where it tells.",
      ({ status }) => status.clock?.skew_s ?? 0,
    ),
    each('decoding', 'gauge', 'Whether the source is decoded now.', of => Number(of.decoding)),
    each('views', 'gauge', 'Sizes and formats in which its frames are read.', of => of.views),
    each('transcoding', 'gauge', 'Whether the source is encoded to H.264 now, since somebody watches.', of =>
      Number(of.transcoding),
    ),
    each('viewers', 'gauge', 'Live views that are watched.', of => of.viewers),
  ])
}
