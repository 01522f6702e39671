import { renderMetrics } from '@eyrie/kit/prometheus-metrics'
import type { Recordings } from './recordings.ts'

/** In Prometheus' text format. */
export function formatRecordingMetrics(recordings: Pick<Recordings, 'statuses' | 'queuedBytes'>): string {
  const statuses = recordings.statuses()
  const each = (value: (status: (typeof statuses)[number]['status']) => number) =>
    statuses.map(({ source, status }): [Record<string, number>, number] => [{ source }, value(status)])
  return renderMetrics([
    {
      name: 'eyrie_media_recording',
      type: 'gauge',
      help: 'Whether the packets of the source are being written.',
      samples: each(({ state }) => Number(state === 'recording')),
    },
    {
      name: 'eyrie_media_recorded_bytes_total',
      type: 'counter',
      help: 'Bytes that were handed over to be written.',
      samples: each(({ bytes }) => bytes),
    },
    {
      name: 'eyrie_media_recording_dropped_total',
      type: 'counter',
      help: 'Packets that were not written because the disk was too slow or full.',
      samples: each(({ dropped }) => dropped),
    },
    {
      name: 'eyrie_media_recording_queued_bytes',
      type: 'gauge',
      help: 'Bytes that wait for the disk.',
      samples: [[{}, recordings.queuedBytes()]],
    },
  ])
}
