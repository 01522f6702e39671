import { type SourceState, sourceState } from '@eyrie/contract'
import { family } from '@eyrie/kit/prometheus'
import type { Source } from './ingest/source.ts'

export function countByState(sources: readonly Source[]): Record<SourceState, number> {
  const counts = Object.fromEntries(sourceState.options.map(state => [state, 0])) as Record<
    SourceState,
    number
  >
  for (const source of sources) counts[source.status().state]++
  return counts
}

/** In Prometheus' text format. */
export function metrics(sources: readonly Source[]): string {
  const states = Object.entries(countByState(sources))
  const each = sources.map(source => ({
    labels: { source: source.status().id },
    stats: source.stats(),
    viewers: source.stream.viewers(),
  }))
  return [
    family(
      'eyrie_media_sources',
      'gauge',
      states.map(([state, count]) => [{ state }, count]),
    ),
    family(
      'eyrie_media_packets_total',
      'counter',
      each.map(({ labels, stats }) => [labels, stats.packets]),
    ),
    family(
      'eyrie_media_frames_total',
      'counter',
      each.map(({ labels, stats }) => [labels, stats.written]),
    ),
    family(
      'eyrie_media_frames_dropped_total',
      'counter',
      each.map(({ labels, stats }) => [labels, stats.dropped]),
    ),
    family(
      'eyrie_media_decoding',
      'gauge',
      each.map(({ labels, stats }) => [labels, Number(stats.decoding)]),
    ),
    family(
      'eyrie_media_views',
      'gauge',
      each.map(({ labels, stats }) => [labels, stats.views]),
    ),
    family(
      'eyrie_media_viewers',
      'gauge',
      each.map(({ labels, viewers }) => [labels, viewers]),
    ),
  ].join('')
}
